// Nodes with faults: everything ends paid or refused, and soon after the node has recovered.
import { rpc } from "../chain/nodes.mjs";
import { until } from "../x402/service.mjs";
import { compare } from "./compare.mjs";
import { createAccounts, createOrders, payUntilSettled } from "./payers.mjs";
import { startFaultyNode } from "./proxy.mjs";
import { setBlockTime, withStack } from "./stack.mjs";
import { count, seconds, startTable, words } from "./table.mjs";

const COLUMNS = ["fault", "blocks", "payers", "paid", "refused", "unfinished", "rest", "lost", "doubled", "statuses"];
/** How long the faults last that are not over in an instant. */
const FAULT_SECONDS = 15;
const OUTAGE_SECONDS = 5;
/** Orders are at rest so long after the recovery; we look longer, to say by how much it is missed. */
const REST_SECONDS = 30;
const FULL = { payers: 60, patienceSeconds: 150, faults: ["drop", "pool", "restart", "shuffle"] };
const SHORT = { payers: 20, patienceSeconds: 40, faults: ["drop"] };

/** Until the time is over, or no payer waits any more. */
async function last(seconds, isOver) {
  await until("the fault is over", isOver, seconds).catch(() => {});
}

/** Empties the node's pool once it holds something; the answer is how many transactions were in it. */
async function losePool({ chain }) {
  const size = await until("the pool holds transactions", async () => {
    const { result } = await rpc(chain.url, "txpool_status");
    return Number(result.pending) + Number(result.queued);
  });
  const { error } = await rpc(chain.url, "anvil_dropAllTransactions");
  if (error) throw new Error(`the node keeps its pool: ${JSON.stringify(error)}`);
  return size;
}

const isHalfSent = ({ proxy }, payers) => until("half of the transactions are sent", () => proxy.tally.sends >= payers / 2);

/** Each answers what it did; when it returns, the node has recovered. */
const FAULTS = {
  drop: {
    name: "drops every third",
    blockTime: 0,
    begin: ({ proxy }) => proxy.setFault("drop"),
    async strike({ proxy }, _, isOver) {
      await last(FAULT_SECONDS, isOver);
      proxy.setFault("none");
      return `${proxy.tally.dropped} of ${proxy.tally.sends} transactions dropped`;
    },
  },
  pool: {
    name: "loses its pool",
    blockTime: 2,
    async strike(stack, payers) {
      await isHalfSent(stack, payers);
      return `${await losePool(stack)} transactions lost from the pool`;
    },
  },
  restart: {
    name: "restarts",
    blockTime: 2,
    async strike(stack, payers) {
      await isHalfSent(stack, payers);
      const size = await losePool(stack);
      stack.proxy.disconnect();
      await new Promise(resolve => setTimeout(resolve, 1_000 * OUTAGE_SECONDS));
      await stack.proxy.reconnect();
      return `${OUTAGE_SECONDS} s unreachable, ${size} transactions lost from the pool`;
    },
  },
  shuffle: {
    name: "reorders calls",
    blockTime: 0,
    begin: ({ proxy }) => proxy.setFault("shuffle"),
    async strike({ proxy }, _, isOver) {
      await last(FAULT_SECONDS, isOver);
      proxy.setFault("none");
      return `${proxy.tally.calls} calls, ${proxy.tally.batches} batches`;
    },
  },
};

async function measure(stack, { blockTime, begin, strike }, { payers, patienceSeconds }) {
  const accounts = await createAccounts(stack.chain, payers);
  const orders = await createOrders(stack, accounts, ["x402", "mpp"], payers);
  await setBlockTime(stack.chain, blockTime);
  begin?.(stack);
  const end = Date.now() + 1_000 * patienceSeconds;
  const isOver = () => orders.every(({ outcome }) => outcome !== null);
  let recovered;
  const fault = strike(stack, payers, isOver).then(did => {
    recovered = Date.now();
    return did;
  });
  const [did] = await Promise.all([fault, ...orders.map(order => payUntilSettled(stack.services, order, end))]);
  const answered = Math.max(...orders.map(order => order.answered));
  const { rest, ...compared } = await compare(stack, orders, Math.max(1, (end - Date.now()) / 1_000));
  // Orders that were at rest at the first look came to rest with the last answer.
  const rested = rest.wasAtRest ? answered : rest.at;
  return { ...compared, did, orders, rest: rest.isAtRest ? Math.max(0, rested - recovered) : Infinity };
}

/** The answers of payers who were refused. */
const refusals = orders => orders.filter(({ outcome }) => outcome === "refused").map(({ rail, refusal }) => `${rail} ${refusal}`);

export async function nodes(programs, { runs, short = false }) {
  const plan = short ? SHORT : FULL;
  const print = startTable("Nodes with faults; one process on SQLite, x402 and MPP in turns; rest: seconds from the recovery until the last order is at rest", COLUMNS);
  const missed = [];
  for (const fault of plan.faults) {
    for (let run = 1; run <= runs; run += 1) {
      const { name, blockTime } = FAULTS[fault];
      const found = await withStack(programs, { between: startFaultyNode }, stack => measure(stack, FAULTS[fault], plan));
      const { paid = 0, refused = 0, null: unfinished = 0 } = count(found.orders.map(({ outcome }) => outcome));
      print({
        fault,
        blocks: blockTime === 0 ? "instant" : `${blockTime} s`,
        payers: plan.payers,
        paid,
        refused,
        unfinished,
        rest: Number.isFinite(found.rest) ? seconds(found.rest) : "never",
        lost: found.lost,
        doubled: found.doubled,
        statuses: words(count(found.orders.flatMap(({ statuses }) => statuses))),
      });
      console.log(`    ${name}: ${found.did}; audit: ${found.audit}`);
      for (const [refusal, number] of Object.entries(count(refusals(found.orders)))) console.log(`    refused ${number} times: ${refusal}`);
      const demand = (holds, text) => holds || missed.push(`nodes: ${fault}, run ${run}: ${text}`);
      demand(unfinished === 0, `${unfinished} orders are neither paid nor refused`);
      demand(found.rest <= 1_000 * REST_SECONDS, `the last order was at rest ${seconds(found.rest)} s after the recovery, at most ${REST_SECONDS}`);
      demand(found.lost === 0 && found.doubled === 0, `${found.lost} orders lost, ${found.doubled} doubled`);
      for (const disagreement of found.disagreements.slice(0, 5)) demand(false, disagreement);
    }
  }
  return missed;
}
