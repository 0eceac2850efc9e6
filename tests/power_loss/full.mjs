// A full disk under paying traffic: no write is acknowledged that is not there, and all orders are paid once there is space.
import { until } from "../x402/service.mjs";
import { createCheck } from "./check.mjs";
import { withEvidence } from "./evidence.mjs";
import { settle } from "./settle.mjs";
import { createStore } from "./stores.mjs";
import { startTraffic } from "./traffic.mjs";

const PAYERS = 8;
/** The disk is full after at most so many more bytes, and stays so for at most so long. */
const BYTES = 200_000;
const FULL_MILLISECONDS = 700;
const FILL_MILLISECONDS = 5_000;
const RECOVERY_SECONDS = 30;
/** Share of the points at which the service is killed while the disk is full. */
const KILLS = 0.2;
/**
 * A paid request gets one of these: paid, in progress elsewhere, in doubt, storage busy; or none, on a connection to a
 * process that was killed. A process that ended by itself would be missed, because no order is paid any more.
 */
const ANSWERS = new Set([0, 200, 409, 502, 503]);

/** Answers to paid requests since the last look, by status. */
function createTally(orders) {
  const seen = new Map();
  return () => {
    const counts = {};
    for (const order of orders) {
      for (const status of order.statuses.slice(seen.get(order) ?? 0)) counts[status] = (counts[status] ?? 0) + 1;
      seen.set(order, order.statuses.length);
    }
    return counts;
  };
}

/** What the orders whose last answer had this status were told. */
function reasons(orders, status) {
  const last = orders.filter(({ statuses }) => statuses.at(-1) === status);
  return last.map(({ id, rail, statuses, refusal, code }) => `${rail} order ${id}, answers ${statuses}, ${refusal ?? code}`).join("; ");
}

/** The disk is full at one point and has space again; says what is wrong. */
async function point(store, service, { random, figures, orders, tally, check }) {
  const kind = random.chance(0.5) ? "growth" : "writes";
  tally();
  await store.disk.limit(kind, random.between(0, BYTES));
  if (!(await store.disk.filled(FILL_MILLISECONDS))) {
    // The log is written anew from its beginning, and nothing grows: then every write counts.
    await store.disk.limit("writes", 0);
    if (!(await store.disk.filled(FILL_MILLISECONDS))) return ["the disk was never full"];
  }
  figures[kind] += 1;
  await new Promise(resolve => setTimeout(resolve, random.between(0, FULL_MILLISECONDS)));
  const isKilled = random.chance(KILLS);
  if (isKilled) await service.kill();
  const counts = tally();
  const wrong = await check(isKilled ? store.readStopped : store.readRunning);
  await store.disk.release();
  if (isKilled) {
    figures.kills += 1;
    await service.launch();
  }
  for (const [status, number] of Object.entries(counts)) {
    if (!ANSWERS.has(Number(status))) wrong.push(`${number} answers ${status} while the disk was full: ${reasons(orders, Number(status))}`);
    figures.refused += status === "503" || status === "502" ? number : 0;
  }
  const paid = () => orders.filter(({ outcome }) => outcome === "paid").length;
  const before = paid();
  await until("an order is paid once there is space", () => paid() > before, RECOVERY_SECONDS);
  return wrong;
}

export async function full(programs, { random, size, progress, evidence, figures }) {
  Object.assign(figures, { points: 0, orders: 0, answers: 0, growth: 0, writes: 0, kills: 0, refused: 0 });
  const store = await createStore("sqlite", programs, random.between(0, 1e9));
  evidence.store = store;
  const wrong = await withEvidence(programs, { environment: store.environment }, async stack => {
    const traffic = startTraffic(stack, PAYERS);
    const { check, figures: acknowledged } = createCheck(stack, traffic.orders);
    const tally = createTally(traffic.orders);
    await until("the first order is paid", () => traffic.orders.some(({ outcome }) => outcome === "paid"));
    for (; figures.points < size; figures.points += 1) {
      const wrong = await point(store, stack.services[0], { random, figures, orders: traffic.orders, tally, check });
      if (wrong.length > 0) return wrong;
      progress(figures.points, `${acknowledged.answers} orders paid`);
    }
    const wrong = await settle(stack, traffic);
    figures.orders = traffic.orders.length;
    figures.answers = traffic.orders.filter(({ outcome }) => outcome === "paid").length;
    return wrong;
  });
  if (wrong.length > 0) return wrong;
  await store.remove();
  evidence.store = null;
  return ["growth", "writes", "kills", "refused"].filter(name => size >= 50 && figures[name] === 0).map(name => `never happened: ${name}`);
}
