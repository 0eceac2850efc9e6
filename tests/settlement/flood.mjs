// One paid card each second, first alone, then while other callers cause outside calls without paying.
import { Worker } from "node:worker_threads";
import { card } from "../x402/buyer.mjs";
import { compare } from "./compare.mjs";
import { createAccounts, createOrder, createOrders, send } from "./payers.mjs";
import { withStack } from "./stack.mjs";
import { milliseconds, percentile, startTable, words } from "./table.mjs";

const COLUMNS = ["callers", "cards", "paid", "p50 ms", "p99 ms", "attacks/s", "answers"];
/** The one country in the sandbox whose card costs more than the maximum charge. */
const DEAR = { name: "Post Office", address: "The Square", city: "Port Lockroy", province: "AQ", postal_code: "BIQQ 1ZZ", country: "AQ" };
const FULL = { quietSeconds: 60, attackSeconds: 60 };
const REST_SECONDS = 30;
/** By which factor p99 may rise under attack. */
const P99_TIMES = 2;

const sleep = time => new Promise(resolve => setTimeout(resolve, time));

/** Starts the callers who do not pay, in a thread of their own so that they do not delay the paid cards. */
async function startAttack(stack) {
  const [one, other] = await createAccounts(stack.chain, 2);
  const dear = await createOrder(stack, 0, one, "x402", { ...card(), recipient: DEAR });
  const garbage = await createOrder(stack, 0, other, "x402");
  const credentials = [dear, garbage].map(({ headers, body }) => ({ headers, body }));
  const worker = new Worker(new URL("attackers.mjs", import.meta.url), { workerData: { url: stack.services[0].url, credentials } });
  /** Stops the callers, and answers how often each status came, by attack. */
  return () => new Promise((resolve, reject) => {
    worker.once("message", resolve).once("error", reject);
    worker.postMessage("stop");
  });
}

/** One card each second, sent on time even if the one before is not answered. */
async function buy(stack, orders) {
  const begun = Date.now();
  const bought = orders.map(async (order, at) => {
    await sleep(begun + 1_000 * at - Date.now());
    await send(stack.services[0].url, order);
  });
  await Promise.all(bought);
  return orders.map(({ sent, answered }) => answered - sent);
}

async function measure(stack, { quietSeconds, attackSeconds }) {
  const accounts = await createAccounts(stack.chain, 4);
  const orders = await createOrders(stack, accounts, ["x402", "mpp"], quietSeconds + attackSeconds);
  const quiet = await buy(stack, orders.slice(0, quietSeconds));
  const stopAttack = await startAttack(stack);
  const begun = Date.now();
  const attacked = await buy(stack, orders.slice(quietSeconds));
  const elapsed = Date.now() - begun;
  const statuses = await stopAttack();
  const attacks = Object.values(statuses).flatMap(counts => Object.values(counts)).reduce((sum, one) => sum + one, 0);
  return { quiet, attacked, orders, statuses, rate: (1_000 * attacks) / elapsed, compared: await compare(stack, orders, REST_SECONDS, null) };
}

export async function flood(programs, plan = FULL) {
  const print = startTable("One card each second, x402 and MPP in turns; one process on SQLite, thanks.io's rate limit times four", COLUMNS);
  const options = { dialect: "thanks_io", rateTimes: 4 };
  const { quiet, attacked, orders, statuses, rate, compared } = await withStack(programs, options, stack => measure(stack, plan));
  const row = (callers, times, some, more) => {
    const paid = some.filter(({ outcome }) => outcome === "paid").length;
    print({ callers, cards: some.length, paid, "p50 ms": milliseconds(percentile(times, 0.5)), "p99 ms": milliseconds(percentile(times, 0.99)), ...more });
    return some.length - paid;
  };
  const unpaid = row("quiet", quiet, orders.slice(0, quiet.length)) + row("attacked", attacked, orders.slice(quiet.length), { "attacks/s": rate.toFixed(0) });
  for (const [name, codes] of Object.entries(statuses)) console.log(`    ${name}: ${words(codes)}`);
  console.log(`    audit: ${compared.audit}`);
  const missed = compared.disagreements.map(text => `flood: ${text}`);
  const failed = orders.filter(({ outcome }) => outcome !== "paid").slice(0, 3).map(({ statuses: codes, code, refusal }) => ({ codes, code, refusal }));
  if (unpaid > 0) missed.push(`flood: ${unpaid} honest cards are not paid, for example ${JSON.stringify(failed)}`);
  const bar = P99_TIMES * percentile(quiet, 0.99);
  if (percentile(attacked, 0.99) > bar) missed.push(`flood: p99 is ${milliseconds(percentile(attacked, 0.99))} ms under attack, at most ${milliseconds(bar)}`);
  return missed;
}
