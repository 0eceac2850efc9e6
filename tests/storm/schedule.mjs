// The faults of a storm: which one strikes when, for how long and where, all from the seed, and what each of them struck.
import { chance } from "../x402/fault_proxy.mjs";

const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

/** Each kind of fault, with the shortest and longest duration in seconds if it has one. */
const FULL = {
  gapSeconds: { processes: [1, 6], database: [8, 25], network: [1, 5] },
  suspend: [3, 60],
  cut: [2, 15],
};
/** One suspension that is long enough for another process to take the lease. */
const SHORT = {
  gapSeconds: { processes: [0.5, 1], database: [4, 7], network: [2, 4] },
  suspend: [14, 15],
  cut: [2, 4],
};
/** Without a heartbeat for so long, a suspended process loses the lease. */
const TAKEOVER_SECONDS = 13;

/** Counts strikes, and in how many of them an order was in each state. */
function createTally() {
  const kinds = {};
  return {
    kinds,
    strike(kind, inPlay) {
      kinds[kind] ??= { strikes: 0, states: {} };
      kinds[kind].strikes += 1;
      for (const { state, number } of inPlay) if (number > 0) kinds[kind].states[state] = (kinds[kind].states[state] ?? 0) + 1;
    },
  };
}

/** Each kind once in every round, in random order. */
function createDeck(seed, name, kinds) {
  let round = 0;
  let left = [];
  return () => {
    if (left.length === 0) {
      left = kinds.map((kind, at) => [chance(seed, name, "round", round, at), kind]).sort(([one], [other]) => one - other).map(([, kind]) => kind);
      round += 1;
    }
    return left.shift();
  };
}

/**
 * Starts three sequences of faults: of the processes, of the database and of the network. `peers` are the ends that a
 * process talks to, by name. They strike until `isOver`; the short storm has one of each kind.
 */
export function startStorm({ seed, isShort, services, database, network, peers, isOver }) {
  const plan = isShort ? SHORT : FULL;
  const tally = createTally();
  const takeovers = { possible: 0, done: 0 };
  const problems = [];

  const between = ([least, most], ...words) => 1_000 * (least + (most - least) * chance(seed, ...words));
  const pause = async milliseconds => {
    for (const end = Date.now() + milliseconds; Date.now() < end && !isOver(); ) await sleep(50);
  };
  /** While the database is away, what a fault strikes is not known. */
  const strike = async (kind, address) => tally.strike(kind, await database.inPlay(address).catch(() => []));
  const pick = (list, ...words) => list[Math.floor(chance(seed, ...words) * list.length)];
  const holders = () => database.holders().catch(() => []);

  /** Two times of three the process that sends, if there is one. */
  async function victim(own, number) {
    const senders = (await holders()).map(({ holder }) => own.find(({ address }) => address === holder)).filter(Boolean);
    const isSender = senders.length > 0 && (isShort || chance(seed, "sender", number) < 2 / 3);
    return pick(isSender ? senders : own, "victim", number);
  }

  const PROCESS_FAULTS = {
    async suspend(service, number) {
      const held = (await holders()).filter(({ holder }) => holder === service.address);
      await strike("suspend", service.address);
      const begun = Date.now();
      service.suspend();
      await pause(between(plan.suspend, "suspend", number));
      const isLong = Date.now() - begun >= 1_000 * TAKEOVER_SECONDS;
      const now = isLong && held.length > 0 ? await holders() : [];
      if (now.length > 0) {
        takeovers.possible += 1;
        if (held.every(({ network: name }) => now.some(one => one.network === name && one.holder !== service.address))) takeovers.done += 1;
      }
      service.resume();
    },
    async kill(service) {
      await strike("kill", service.address);
      await service.kill();
      await service.start();
    },
  };
  const restart = mode => async () => {
    await strike(`restart ${mode}`);
    await database.restart(mode);
  };
  const failOver = mode => async () => {
    await strike(`fail over ${mode}`);
    await database.failOver(mode);
  };
  const DATABASE_FAULTS = {
    restartFast: restart("fast"),
    restartImmediate: restart("immediate"),
    failOverFast: failOver("fast"),
    failOverImmediate: failOver("immediate"),
    async cutReplica(number) {
      await strike("cut primary from replica");
      const heal = await database.cutReplica("both");
      await pause(between(plan.cut, "cut replica", number));
      await heal();
    },
  };

  /** One process of each pair at a time, so that another one can go on. */
  async function disturbProcesses(name, own) {
    const next = createDeck(seed, name, isShort ? ["suspend"] : ["suspend", "kill"]);
    for (let number = 0; !isOver(); number += 1) {
      await pause(between(plan.gapSeconds.processes, name, "gap", number));
      if (isOver()) return;
      const kind = isShort && number === 1 ? "kill" : next();
      await PROCESS_FAULTS[kind](await victim(own, `${name} ${number}`), `${name} ${number}`);
      if (isShort && number === 1) return;
    }
  }
  async function disturbDatabase() {
    const next = createDeck(seed, "database", isShort ? ["restartImmediate", "failOverFast"] : Object.keys(DATABASE_FAULTS));
    for (let number = 0; !isOver() && !(isShort && number === 2); number += 1) {
      await pause(between(plan.gapSeconds.database, "database gap", number));
      if (!isOver()) await DATABASE_FAULTS[next()](number);
    }
  }
  async function disturbNetwork() {
    const next = createDeck(seed, "network", Object.keys(peers));
    for (let number = 0; !isOver() && !(isShort && number === Object.keys(peers).length); number += 1) {
      await pause(between(plan.gapSeconds.network, "network gap", number));
      if (isOver()) return;
      const [service, peer] = [pick(services, "cut process", number), next()];
      const direction = pick(["both", "both", "requests", "answers"], "cut direction", number);
      await strike(`cut process from ${peer}`, service.address);
      const heal = await network.cut(service, peers[peer], direction);
      await pause(between(plan.cut, "cut", number));
      await heal();
    }
  }

  const sequences = [disturbDatabase(), disturbNetwork(), ...Array.from({ length: services.length / 2 }, (_, at) => disturbProcesses(`processes ${at}`, services.slice(2 * at, 2 * at + 2)))];
  const over = Promise.all(sequences.map(sequence => sequence.catch(error => problems.push(error.stack))));
  return { tally, takeovers, problems, over };
}
