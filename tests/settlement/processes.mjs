// Several processes on one store with one settler account, without faults and while they are killed.
import { watch } from "../x402/audit.mjs";
import { until } from "../x402/service.mjs";
import { compare } from "./compare.mjs";
import { createAccounts, createOrders, payUntilSettled } from "./payers.mjs";
import { canLimit } from "./processor.mjs";
import { setBlockTime, withStack } from "./stack.mjs";
import { count, percentile, seconds, startTable } from "./table.mjs";

const COLUMNS = ["store", "processes", "processor", "blocks", "orders", "kills", "orders/s", "502s", "p50", "p99", "p99 settled", "takeover", "lost", "doubled", "owed", "unfinished"];
const PAYERS = 32;
const KILL_EVERY_MILLISECONDS = 2_500;
/** Without faults a process on SQLite pays all orders before the first kill; then it gets more of them. */
const ORDERS_WITH_KILLS_ON_SQLITE = 2_400;
const TAKEOVER_SECONDS = 5;
const P99_SECONDS = 15;
/** On shared processors, of which the node, PostgreSQL, the provider and the payers use most. */
const NOISE = 0.9;
/** The share of a processor that a process has in the rows that show it as on a machine of its own. */
export const OWN_SHARE = 0.1;
/** Of the networks that the service is for, none makes blocks less often. */
const BLOCK_SECONDS = 2;

/**
 * The whole table. Orders that need more patience are unfinished; credentials are valid for ten minutes. A submission
 * that was interrupted is repeated once one process has watched for its card during the grace period. Looks are spread
 * over all processes, so with four of them that may take ten minutes. The audit waits for it.
 */
const FULL = {
  orders: 400,
  patienceSeconds: 120,
  restSeconds: 900,
  rows: [
    ...["no", "timed"].flatMap(kills => [1, 2, 4].map(processes => ({ store: "postgres", processes, kills }))),
    ...[1, 2, 4].map(processes => ({ store: "postgres", processes, kills: "no", blockTime: BLOCK_SECONDS })),
    ...[1, 2, 4].map(processes => ({ store: "postgres", processes, kills: "no", share: OWN_SHARE })),
    { store: "sqlite", processes: 1, kills: "no" },
    { store: "sqlite", processes: 1, kills: "timed", orders: ORDERS_WITH_KILLS_ON_SQLITE },
  ],
};
const SHORT = { orders: 60, patienceSeconds: 40, restSeconds: 5, rows: [{ store: "postgres", processes: 2, kills: "two" }] };

const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));
const kill = async (services, times) => {
  times.push(Date.now());
  await services[Math.floor(Math.random() * services.length)].restart();
};

/** Kills one of the processes now and then; `progress` is the share of orders that are done. */
const KILLERS = {
  no: async () => {},
  async timed(services, progress, times) {
    for (let next = Date.now() + KILL_EVERY_MILLISECONDS / 2; ; next += KILL_EVERY_MILLISECONDS) {
      while (Date.now() < next && progress() < 1) await sleep(20);
      if (progress() === 1) return;
      await kill(services, times);
    }
  },
  async two(services, progress, times) {
    for (const share of [1 / 3, 2 / 3]) {
      await until(`${share} of the orders are done`, () => progress() >= share, SHORT.patienceSeconds + 90);
      if (progress() < 1) await kill(services, times);
    }
  },
};

/**
 * The longest time without a transfer on chain, from a kill or from a transfer after one. If orders are left, `settled`
 * ends with the moment until which they waited.
 */
function longestTakeover(kills, settled) {
  if (kills.length === 0) return NaN;
  const last = Math.max(...settled);
  let longest = 0;
  for (const point of [...kills, ...settled].filter(time => time >= kills[0] && time < last)) {
    const next = Math.min(...settled.filter(time => time > point));
    longest = Math.max(longest, next - point);
  }
  return longest;
}

export async function measure(stack, { kills, orders: size, patienceSeconds, restSeconds, blockTime = 0 }) {
  const accounts = await createAccounts(stack.chain, PAYERS);
  const orders = await createOrders(stack, accounts, ["x402", "mpp"], size);
  await setBlockTime(stack.chain, blockTime);
  const watched = watch(stack.chain);
  const times = [];
  let done = 0;
  const begun = Date.now();
  const end = begun + 1_000 * patienceSeconds;
  const payer = async number => {
    for (let at = number; at < size; at += PAYERS) {
      await payUntilSettled(stack.services, orders[at], end);
      done += 1;
    }
  };
  const paying = Promise.all(accounts.map((_, number) => payer(number))).then(() => Date.now());
  const [ended] = await Promise.all([paying, KILLERS[kills](stack.services, () => done / size, times)]);
  const compared = await compare(stack, orders, restSeconds);
  await watched.stop();
  const settledAt = ({ transfer }) => watched.blocks.get(transfer.block).by;
  const paid = orders.filter(({ outcome }) => outcome === "paid");
  const settled = orders.filter(({ transfer, sent }) => transfer && sent);
  return {
    ...compared,
    kills: times.length,
    rate: (1_000 * paid.length) / (ended - begun),
    // An order that was never paid took at least until the end.
    answers: orders.filter(({ sent }) => sent).map(({ sent, answered, outcome }) => (outcome === "paid" ? answered : ended) - sent),
    settlements: settled.map(order => Math.max(0, settledAt(order) - order.sent)),
    takeover: longestTakeover(times, [...settled.map(settledAt), ...(settled.length < size ? [ended] : [])]),
    unknown: count(orders.flatMap(({ statuses }) => statuses))[502] ?? 0,
    unfinished: orders.filter(({ outcome }) => outcome !== "paid"),
  };
}

const processor = ({ share }) => (share ? `${share} each` : "shared");
const blocks = ({ blockTime }) => (blockTime ? `${blockTime} s` : "instant");

/** The requirements that a row misses. */
function judge(row, found, p99, short) {
  const missed = [];
  const demand = (holds, text) => holds || missed.push(text);
  if (!short) demand(found.owed === 0, `${found.owed} cards are still owed`);
  demand(found.lost === 0 && found.doubled === 0, `${found.lost} orders lost, ${found.doubled} doubled`);
  demand(found.unfinished.length === 0, `${found.unfinished.length} orders are not paid, for example ${JSON.stringify(found.unfinished.slice(0, 1).map(({ id, status, statuses, refusal }) => ({ id, status, refusal, statuses: count(statuses) })))}`);
  for (const disagreement of found.disagreements.slice(0, 5)) missed.push(disagreement);
  if (row.kills === "no") demand(found.unknown === 0, `${found.unknown} answers 502 without faults`);
  else {
    demand(found.kills > 0, "no process was killed");
    demand(found.takeover <= 1_000 * TAKEOVER_SECONDS, `takeover took ${seconds(found.takeover)} s, at most ${TAKEOVER_SECONDS}`);
    demand(p99 <= 1_000 * P99_SECONDS, `p99 is ${seconds(p99)} s, at most ${P99_SECONDS}`);
  }
  return missed;
}

export async function processes(programs, { runs, short = false }) {
  const plan = short ? SHORT : FULL;
  const print = startTable(`Orders by ${PAYERS} payers, x402 and MPP in turns, one settler account`, COLUMNS);
  const missed = [];
  for (let run = 1; run <= runs; run += 1) {
    const rates = {};
    for (const row of plan.rows) {
      if (row.share && !canLimit()) {
        console.log(`    not measured with ${row.share} of a processor for each process: control groups cannot be written here`);
        continue;
      }
      const found = await withStack(programs, row, stack => measure(stack, { ...plan, ...row }));
      const p99 = percentile(found.answers, 0.99);
      print({
        ...row,
        processor: processor(row),
        blocks: blocks(row),
        orders: row.orders ?? plan.orders,
        kills: found.kills,
        "orders/s": found.rate.toFixed(1),
        "502s": found.unknown,
        p50: seconds(percentile(found.answers, 0.5)),
        p99: seconds(p99),
        "p99 settled": seconds(percentile(found.settlements, 0.99)),
        takeover: seconds(found.takeover),
        lost: found.lost,
        doubled: found.doubled,
        owed: found.owed,
        unfinished: found.unfinished.length,
      });
      console.log(`    audit: ${found.audit}`);
      const name = `processes: ${row.processes} on ${row.store}, processor ${processor(row)}, blocks ${blocks(row)}, ${found.kills} kills, run ${run}:`;
      missed.push(...judge(row, found, p99, short).map(text => `${name} ${text}`));
      if (row.store === "postgres" && row.kills === "no") (rates[`${processor(row)}, blocks ${blocks(row)}`] ??= { least: row.share ? 1 : NOISE, byNumber: {} }).byNumber[row.processes] = found.rate;
    }
    for (const [which, { least, byNumber }] of Object.entries(rates)) {
      for (const [number, rate] of Object.entries(byNumber)) {
        if (rate < least * byNumber[1]) missed.push(`processes: ${number} processes pay ${rate.toFixed(1)} orders/s, and one pays ${byNumber[1].toFixed(1)}, processor ${which}, run ${run}`);
      }
    }
  }
  return missed;
}
