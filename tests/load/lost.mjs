// Settlements whose answers are lost after the transactions reached the node; each payer signs again. No payer is charged twice.
import { compare, newLedger } from "../settlement/compare.mjs";
import { createAccounts, createOrderPatiently, payUntilSettled, sendUntilAnswered } from "../settlement/payers.mjs";
import { startFaultyNode } from "../settlement/proxy.mjs";
import { count, percentile, seconds, words } from "../settlement/table.mjs";
import { card } from "../x402/buyer.mjs";
import { chance } from "../x402/fault_proxy.mjs";
import { grouped, onStack } from "./campaign.mjs";

/** Orders that are in doubt at once. The service waits 25 seconds for a receipt, and all of them wait together. */
const WAVE = 500;
const ACCOUNTS = 50;
const SIGN_AT_ONCE = 16;
const RAILS = ["x402", "mpp"];
/** The share of the waves after which the service is killed and started again. */
const RESTARTS = 0.5;
/** How long a credential is valid, what a development node needs until a block is final, and a margin. */
const RESOLVED_SECONDS = 600 + 10 + 10;
const REST_SECONDS = 30;
/** What a payer who signs again may be told while the first payment is in doubt. */
const IN_DOUBT = new Set([409, 502, 503]);

const now = () => performance.timeOrigin + performance.now();

/** One card with two credentials, both signed before the first is sent. */
async function createTwice(stack, number, accounts) {
  const [account, rail, body] = [accounts[number % accounts.length], RAILS[number % RAILS.length], card()];
  const first = await createOrderPatiently(stack, number, account, rail, body);
  return { first, again: await createOrderPatiently(stack, number, account, rail, body) };
}

async function createWave(stack, accounts, from, size) {
  const wave = [];
  for (let at = 0; at < size; at += SIGN_AT_ONCE) {
    const some = Array.from({ length: Math.min(SIGN_AT_ONCE, size - at) }, (_, more) => from + at + more);
    if (at % (10 * SIGN_AT_ONCE) === 0) console.log(`  ${grouped(from + at)} payments are signed`);
    wave.push(...(await Promise.all(some.map(number => createTwice(stack, number, accounts)))));
  }
  return wave;
}

/** Both credentials are repeated until they are answered 200; the answer is when the first of them was. */
async function resolve(services, { first, again }, end) {
  // A payer whose credential was refused while the first one was in doubt tries it again.
  again.outcome = null;
  await Promise.all([payUntilSettled(services, again, end), payUntilSettled(services, first, end)]);
  return Math.min(...[first, again].filter(({ outcome }) => outcome === "paid").map(({ answered }) => answered));
}

/** All orders are sent while the node hides what became of them, then signed again; then the node answers again. */
async function runWave(stack, wave, isRestarted) {
  const { proxy, services } = stack;
  proxy.setFault("hide");
  console.log(`  ${wave.length} payments are sent, and their answers are lost`);
  await Promise.all(wave.map(({ first }) => sendUntilAnswered(services[0].url, first)));
  const lost = wave.filter(({ first }) => first.statuses.at(-1) === 502);
  const unknownAt = new Map(lost.map(one => [one, one.first.answered]));
  await Promise.all(lost.map(({ again }) => sendUntilAnswered(services[0].url, again)));
  const told = count(lost.map(({ again }) => again.statuses.at(-1)));
  if (isRestarted) await services[0].restart();
  console.log("  every payer has signed again; the node answers again");
  proxy.setFault("none");
  const shown = now();
  const end = Date.now() + 1_000 * RESOLVED_SECONDS;
  const times = await Promise.all(wave.map(one => resolve(services, one, end).then(at => ({ one, at }))));
  const resolved = times.filter(({ one }) => unknownAt.has(one));
  return {
    lost: lost.length,
    told,
    fromUnknown: resolved.map(({ one, at }) => at - unknownAt.get(one)),
    fromShown: resolved.map(({ at }) => at - shown),
    unpaid: wave.flatMap(({ first, again }) => [first, again]).filter(({ outcome }) => outcome !== "paid"),
  };
}

async function measure(stack, size, seed) {
  const accounts = await createAccounts(stack.chain, Math.max(ACCOUNTS, Math.ceil(size / 100)));
  const [all, faults, fromUnknown, fromShown, told, ledger] = [[], [], [], [], {}, newLedger()];
  let [lost, restarts] = [0, 0];
  for (let from = 0; from < size; from += WAVE) {
    const wave = await createWave(stack, accounts, from, Math.min(WAVE, size - from));
    all.push(...wave.map(({ first }) => first));
    const isRestarted = from === 0 || chance(seed, "restart", from) < RESTARTS;
    const found = await runWave(stack, wave, isRestarted);
    lost += found.lost;
    restarts += isRestarted ? 1 : 0;
    fromUnknown.push(...found.fromUnknown);
    fromShown.push(...found.fromShown);
    for (const [status, times] of Object.entries(found.told)) told[status] = (told[status] ?? 0) + times;
    console.log(`  ${grouped(all.length)} settlements, ${grouped(lost)} answers lost, ${restarts} restarts; the second credential was answered ${words(told)}`);
    for (const order of found.unpaid.slice(0, 3)) faults.push(`order ${order.number} (${order.id}, ${order.rail}): never 200 but ${words(count(order.statuses))} ${order.refusal ?? order.code}`);
    if (faults.length > 0) break;
  }
  const { hidden } = stack.proxy.tally;
  const compared = await compare(stack, all, REST_SECONDS, undefined, ledger);
  console.log(`  ${compared.audit}`);
  faults.push(...compared.disagreements);
  if (compared.lost + compared.doubled + compared.owed > 0) faults.push(`${compared.lost} lost, ${compared.doubled} charged or mailed twice, ${compared.owed} owed`);
  if (lost < 0.95 * all.length) faults.push(`only ${lost} of ${all.length} answers were lost`);
  for (const status of Object.keys(told)) if (!IN_DOUBT.has(Number(status))) faults.push(`a payer who signed again while the payment was in doubt was answered ${status}, ${told[status]} times`);
  const p99 = percentile(fromUnknown, 0.99);
  if (!(p99 <= 1_000 * RESOLVED_SECONDS)) faults.push(`p99 from unknown to resolved is ${seconds(p99)} s, at most ${RESOLVED_SECONDS}`);
  return { faults, lost, restarts, hidden, p99, shown: percentile(fromShown, 0.99), doubled: compared.doubled, resolved: fromUnknown.length };
}

export async function campaign(programs, sizeWord, seed) {
  const size = Number(sizeWord);
  const found = await onStack(programs, { between: startFaultyNode, keptCards: size + 1_000 }, stack => measure(stack, size, seed));
  if (found.lost === undefined) return found;
  const { faults, lost, restarts, hidden, p99, shown, doubled, resolved } = found;
  const figures = [
    `${grouped(lost)} settlements lost after broadcast, ${grouped(lost)} payers signed again, ${doubled} charged twice`,
    `${restarts} restarts in between, ${grouped(resolved)} recovered (${lost ? (100 * resolved) / lost : 0} %)`,
    `${grouped(hidden)} broadcasts without an answer`,
    `p99 from unknown to resolved ${seconds(p99)} s, ${seconds(shown)} s after the node answered again`,
    `seed ${seed}`,
  ];
  return { faults, figures: figures.join("; ") };
}
