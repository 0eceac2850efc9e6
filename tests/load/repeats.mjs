// One payment is repeated in a row and in many copies at once: one settlement on chain, one card, one id.
import { compare } from "../settlement/compare.mjs";
import { createAccounts, createOrder, payUntilSettled, send, sendUntilAnswered } from "../settlement/payers.mjs";
import { count, words } from "../settlement/table.mjs";
import { who } from "../x402/chains.mjs";
import { chance } from "../x402/fault_proxy.mjs";
import { grouped, onStack } from "./campaign.mjs";

const SIZES = { short: { inARow: 100, atOnce: 64 }, full: { inARow: 1_000, atOnce: 256 } };
const STACKS = [{ store: "sqlite", processes: 1 }, { store: "postgres", processes: 2 }];
const RAILS = ["x402", "mpp"];
const ANSWER_SECONDS = 60;
const REST_SECONDS = 20;
/** What a copy may be told while another one is being settled. */
const IN_PROGRESS = new Set([200, 409, 502, 503]);

const copyOf = order => ({ ...order, statuses: [], ids: new Set(), outcome: null });

/** The same request again and again, at a random process each time. */
async function repeatInARow(stack, order, times, luck) {
  for (let time = 0; time < times; time += 1) await sendUntilAnswered(stack.services[Math.floor(luck(time) * stack.services.length)].url, order);
  return order.statuses.every(status => status === 200 || status === 0) ? [] : [`in a row: ${words(count(order.statuses))}, last ${order.code}`];
}

/** Copies of one request at the same time, split over the processes; those without a 200 are repeated until they have it. */
async function sendAtOnce(stack, order, copies) {
  const all = Array.from({ length: copies }, (_, number) => ({ ...copyOf(order), number }));
  await Promise.all(all.map(copy => send(stack.services[copy.number % stack.services.length].url, copy)));
  const first = count(all.map(({ statuses }) => statuses[0]));
  const end = Date.now() + 1_000 * ANSWER_SECONDS;
  await Promise.all(all.map(copy => payUntilSettled(stack.services, copy, end)));
  for (const { ids } of all) for (const id of ids) order.ids.add(id);
  order.outcome = "paid";
  const faults = [];
  if (!Object.keys(first).every(status => IN_PROGRESS.has(Number(status)))) faults.push(`at once: ${words(first)}`);
  const unpaid = all.filter(({ outcome }) => outcome !== "paid");
  if (unpaid.length > 0) faults.push(`at once: ${unpaid.length} copies have no 200, for example ${words(count(unpaid[0].statuses))} ${unpaid[0].refusal ?? ""}`);
  return { first, faults };
}

const settlements = ({ reader }) => reader.getTransactionCount({ address: who.facilitator.address });

async function measure(stack, { inARow, atOnce }, name, seed) {
  const accounts = await createAccounts(stack.chain, RAILS.length);
  const before = await settlements(stack.chain);
  const [orders, faults, answers] = [[], [], {}];
  for (const [at, rail] of RAILS.entries()) {
    const [row, burst] = [await createOrder(stack, at, accounts[at], rail), await createOrder(stack, at + 2, accounts[at], rail)];
    orders.push(row, burst);
    faults.push(...(await repeatInARow(stack, row, inARow, time => chance(seed, name, rail, time))));
    const sent = await sendAtOnce(stack, burst, atOnce);
    faults.push(...sent.faults);
    answers[rail] = words(sent.first);
    console.log(`  ${name}, ${rail}: ${grouped(inARow)} in a row, ${atOnce} at once: ${words(sent.first)}`);
  }
  const found = await compare(stack, orders, REST_SECONDS);
  for (const { rail, id, ids } of orders) if (ids.size !== 1) faults.push(`${rail} ${id}: ${ids.size} ids`);
  const made = (await settlements(stack.chain)) - before;
  if (made !== orders.length) faults.push(`${made} transactions of the settler for ${orders.length} payments`);
  if (found.lost + found.doubled + found.owed > 0) faults.push(`${found.lost} lost, ${found.doubled} doubled, ${found.owed} owed`);
  console.log(`  ${name}: ${found.audit}`);
  return { faults: [...faults, ...found.disagreements].map(text => `${name}: ${text}`), made, cards: orders.length, answers };
}

export async function campaign(programs, size, seed) {
  const plan = SIZES[size];
  const [faults, parts] = [[], []];
  for (const options of STACKS) {
    const name = `${options.processes} on ${options.store}`;
    const found = await onStack(programs, options, stack => measure(stack, plan, name, seed));
    faults.push(...found.faults);
    parts.push(`${name}: ${found.made} settlements and ${found.cards} cards for ${found.cards} payments`);
  }
  const figures = `each payment ${grouped(plan.inARow)} times in a row or ${plan.atOnce} times at once, both rails; ${parts.join("; ")}; one id each; seed ${seed}`;
  return { faults, figures };
}
