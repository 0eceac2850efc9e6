// The faults of a storm: which one strikes when, for how long and where, all from the seed, and what each of them struck.
import { chance } from "../x402/fault_proxy.mjs";
import { until } from "../x402/service.mjs";

const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

/** The shortest and the longest time in seconds: before the next fault, of a suspension and of a cut. */
const FULL = { processes: [1, 6], database: [8, 25], network: [1, 5], suspend: [3, 60], cut: [2, 15] };
/** The suspension is long enough for another process to take the lease. The database is disturbed after it: a restart frees the lease too. */
const SHORT = { processes: [0.5, 1], database: [1, 2], network: [1, 2], suspend: [15, 16], cut: [2, 3] };
/** Without a heartbeat for so long, a suspended process has lost the lease. */
const TAKEOVER_SECONDS = 13;
/** What each fault must have struck at least once in a long storm, and how long it waits for that. */
export const STATES = ["settling", "unconfirmed", "submitting"];
const STATE_WAIT_MILLISECONDS = 5_000;

/** The names in random order. */
const shuffle = (names, seed, ...words) => names.map((name, at) => [chance(seed, ...words, at), name]).sort(([one], [other]) => one - other).map(([, name]) => name);

/** Suspends and kills processes: one of these at a time, so that another one can go on. */
function processFaults({ own, database, strike, pick, last, isShort, isSending, luck, takeovers }) {
  /** Two times of three the process that sends, if there is one, and the leases that it has. */
  const victim = async words => {
    const find = async () => {
      const found = await database.holders();
      return found.length > 0 || !isShort || !isSending ? found : null;
    };
    const leases = await until("a process has the lease", find);
    const senders = leases.map(({ holder }) => own.find(({ address }) => address === holder)).filter(Boolean);
    const isSender = senders.length > 0 && (isShort || luck(words, "sender") < 2 / 3);
    const service = pick(isSender ? senders : own, words, "victim");
    return { service, held: leases.filter(({ holder }) => holder === service.address) };
  };
  return {
    async suspend(words) {
      const { service, held } = await victim(words);
      await strike("suspend", service.address);
      const begun = Date.now();
      service.suspend();
      await last("suspend", words);
      if (held.length > 0 && Date.now() - begun >= 1_000 * TAKEOVER_SECONDS) {
        const now = await database.lastHolders();
        takeovers.possible += 1;
        takeovers.done += held.every(({ network }) => now.some(one => one.network === network && one.holder !== service.address)) ? 1 : 0;
      }
      service.resume();
    },
    async kill(words) {
      const { service } = await victim(words);
      await strike("kill", service.address);
      await service.kill();
      await service.start();
    },
  };
}

/** Restarts PostgreSQL and lets it fail over. The short storm has one of each. */
function databaseFaults({ database, strike, last, isShort }) {
  const restart = mode => async () => {
    await strike(`restart ${mode}`);
    await database.restart(mode);
  };
  const failOver = mode => async () => {
    await strike(`fail over ${mode}`);
    await database.failOver(mode);
  };
  const some = { restartImmediate: restart("immediate"), failOverFast: failOver("fast") };
  if (isShort) return some;
  return {
    ...some,
    restartFast: restart("fast"),
    failOverImmediate: failOver("immediate"),
    async cutReplica(words) {
      await strike("cut primary from replica");
      const heal = await database.cutReplica("both");
      await last("cut", words);
      await heal();
    },
  };
}

/** Cuts a process from each of its peers; two processes do not talk to each other. */
function networkFaults({ services, network, peers, strike, pick, last }) {
  const cut = peer => async words => {
    const service = pick(services, words, "process");
    await strike(`cut process from ${peer}`, service.address);
    const heal = await network.cut(service, peers[peer], pick(["both", "both", "requests", "answers"], words, "direction"));
    await last("cut", words);
    await heal();
  };
  return Object.fromEntries(Object.keys(peers).map(peer => [peer, cut(peer)]));
}

/**
 * Starts sequences of faults: of each pair of processes, of the database and of the network. In each sequence one fault
 * follows another until `isOver`; the short storm has each fault once and ends by itself. `peers` are the ends that a
 * process talks to, by name; `isSending` tells whether one of the processes sends transactions.
 */
export function startStorm({ seed, isShort, isSending, services, database, network, peers, isOver }) {
  const plan = isShort ? SHORT : FULL;
  const kinds = {};
  const [takeovers, problems] = [{ possible: 0, done: 0 }, []];
  const luck = (...words) => chance(seed, "storm", ...words);
  /** Waits for a time between the shortest and the longest. */
  const last = async (what, words) => {
    const [least, most] = plan[what];
    const end = Date.now() + 1_000 * (least + (most - least) * luck(what, words));
    while (Date.now() < end && !isOver()) await sleep(50);
  };
  /** The states in which there are orders: those of one process, or all. While the database is away, that is not known. */
  const statesOf = async address => (await database.inPlay(address).catch(() => [])).map(({ state }) => state);
  /**
   * Counts the fault, and in which states it finds orders. In the long storm it waits for a moment at which there is one in
   * a state that it has not struck yet: some states last for milliseconds.
   */
  const strike = async (kind, address) => {
    const struck = (kinds[kind] ??= { strikes: 0, states: {} });
    struck.strikes += 1;
    const missing = STATES.filter(state => !struck.states[state]);
    const end = Date.now() + (isShort || missing.length === 0 ? 0 : STATE_WAIT_MILLISECONDS);
    let found = await statesOf(address);
    while (!missing.some(state => found.includes(state)) && Date.now() < end && !isOver()) {
      await sleep(20);
      found = await statesOf(address);
    }
    for (const state of found) struck.states[state] = (struck.states[state] ?? 0) + 1;
  };
  const pick = (list, ...words) => list[Math.floor(luck(...words) * list.length)];
  const context = { services, database, network, peers, strike, pick, last, isShort, isSending, luck, takeovers };

  /** Each fault once in every round, in random order. */
  async function inTurn(name, gap, faults) {
    for (let round = 0; !isOver() && !(isShort && round > 0); round += 1) {
      for (const fault of shuffle(Object.keys(faults), seed, name, round)) {
        const words = `${name} ${round} ${fault}`;
        await last(gap, words);
        if (isOver()) return;
        await faults[fault](words);
      }
    }
  }
  const pairs = Array.from({ length: services.length / 2 }, (_, at) => services.slice(2 * at, 2 * at + 2));
  const ofProcesses = pairs.map((own, at) => inTurn(`processes ${at}`, "processes", processFaults({ ...context, own })));
  const disturbDatabase = async () => {
    if (isShort) await Promise.allSettled(ofProcesses);
    await inTurn("database", "database", databaseFaults(context));
  };
  const sequences = [...ofProcesses, disturbDatabase(), inTurn("network", "network", networkFaults(context))];
  const over = Promise.all(sequences.map(sequence => sequence.catch(error => problems.push(error.stack))));
  return { kinds, takeovers, problems, over };
}
