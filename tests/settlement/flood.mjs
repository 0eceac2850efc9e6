// An honest payer buys a card each second, alone and beside callers who cost us calls outside and pay nothing.
import { randomBytes } from "node:crypto";
import { Agent, request } from "node:http";
import { card, DOOR } from "../x402/buyer.mjs";
import { compare } from "./compare.mjs";
import { createAccounts, createOrder, createOrders, send } from "./payers.mjs";
import { withStack } from "./stack.mjs";
import { count, percentile, seconds, startTable, words } from "./table.mjs";

const COLUMNS = ["callers", "cards", "paid", "p50", "p99", "attacks/s", "answers"];
/** The sandbox's price list has one country whose card costs more than a payment may. */
const DEAR = { name: "Post Office", address: "The Square", city: "Port Lockroy", province: "AQ", postal_code: "BIQQ 1ZZ", country: "AQ" };
const FULL = { quietSeconds: 60, attackSeconds: 60 };
const REST_SECONDS = 30;
/** Twice the quiet value, or this if the quiet value is smaller than the machine's noise. */
const P99_FLOOR_MILLISECONDS = 50;

const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));
const agent = new Agent({ keepAlive: true });

/** Sends a request and answers its status; the body is not read. */
function ask(url, method, headers = {}, body = "") {
  return new Promise(resolve => {
    const sized = body ? { "content-type": "application/json", "content-length": Buffer.byteLength(body) } : {};
    const asked = request(url, { method, agent, headers: { ...sized, ...headers } }, answer => answer.resume().once("end", () => resolve(answer.statusCode)));
    asked.once("error", () => resolve(0));
    asked.end(body);
  });
}

/** A credential whose signature is longer than a key's and means nothing. */
function garbled(order) {
  const payload = JSON.parse(Buffer.from(order.headers["payment-signature"], "base64").toString());
  payload.payload.signature = `0x${randomBytes(80).toString("hex")}`;
  return { "payment-signature": Buffer.from(JSON.stringify(payload)).toString("base64") };
}

/** What each attacker does again and again; each answers a status. */
async function attacks(stack) {
  const [{ url }] = stack.services;
  const [one, other] = await createAccounts(stack.chain, 2);
  const dear = await createOrder(stack, 0, one, "x402", { ...card(), recipient: DEAR });
  const garbage = await createOrder(stack, 0, other, "x402");
  return {
    "unspent credential": () => ask(`${url}${DOOR}`, "POST", dear.headers, dear.body),
    "random name": () => ask(`${url}/api/x402/resolve/n${randomBytes(8).toString("hex")}`, "GET"),
    "garbage signature": () => ask(`${url}${DOOR}`, "POST", garbled(garbage), garbage.body),
    "unpaid request": () => ask(`${url}${DOOR}`, "POST", {}, JSON.stringify(card())),
  };
}

/** One card a second, each sent on time whatever became of the one before. */
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
  const found = { quiet, statuses: {}, attacks: 0 };
  let isOver = false;
  const attacker = async ([name, attack]) => {
    while (!isOver) {
      const status = await attack();
      found.attacks += 1;
      (found.statuses[name] ??= []).push(status);
    }
  };
  const attackers = Object.entries(await attacks(stack)).flatMap(one => [attacker(one), attacker(one)]);
  const begun = Date.now();
  found.attacked = await buy(stack, orders.slice(quietSeconds));
  found.rate = (1_000 * found.attacks) / (Date.now() - begun);
  isOver = true;
  await Promise.all(attackers);
  return { ...found, orders, compared: await compare(stack, orders, REST_SECONDS, null) };
}

export async function flood(programs, plan = FULL) {
  const print = startTable("One card each second, x402 and MPP in turns; one process on SQLite, thanks.io's rate limit times four", COLUMNS);
  const options = { dialect: "thanks_io", rateTimes: 4 };
  const { quiet, attacked, orders, statuses, rate, compared } = await withStack(programs, options, stack => measure(stack, plan));
  const row = (callers, times, some, more) => {
    const paid = some.filter(({ outcome }) => outcome === "paid").length;
    print({ callers, cards: some.length, paid, p50: seconds(percentile(times, 0.5)), p99: seconds(percentile(times, 0.99)), ...more });
    return some.length - paid;
  };
  const unpaid = row("quiet", quiet, orders.slice(0, quiet.length)) + row("attacked", attacked, orders.slice(quiet.length), { "attacks/s": rate.toFixed(0) });
  for (const [name, codes] of Object.entries(statuses)) console.log(`    ${name}: ${words(count(codes))}`);
  console.log(`    audit: ${compared.audit}`);
  const missed = compared.disagreements.map(text => `flood: ${text}`);
  const failed = orders.filter(({ outcome }) => outcome !== "paid").slice(0, 3).map(({ statuses: codes, code, refusal }) => ({ codes, code, refusal }));
  if (unpaid > 0) missed.push(`flood: ${unpaid} honest cards are not paid, for example ${JSON.stringify(failed)}`);
  const bar = Math.max(P99_FLOOR_MILLISECONDS, 2 * percentile(quiet, 0.99));
  if (percentile(attacked, 0.99) > bar) missed.push(`flood: p99 is ${seconds(percentile(attacked, 0.99))} s under attack, at most ${seconds(bar)}`);
  return missed;
}
