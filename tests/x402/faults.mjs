// Orders through the whole service with faults: a third of all outside calls fail, payers repeat and disconnect, and the
// service is killed. Then the faults end, and the audit compares chain, provider and orders.
//
//   node faults.mjs BINARY PROVIDER settler|facilitator [ORDERS [SEED]]
//
// PROVIDER is the example `provider` of the sandbox. CLOCK_SPEED multiplies the speed of the service's clock after
// the faults (default 20). KEEP=1 keeps the folder with store and log.
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { AT_REST, audit, watch } from "./audit.mjs";
import { DOLLARS, wallet } from "./buyer.mjs";
import { account, startChain, who } from "./chains.mjs";
import { buy, operation, say } from "./payers.mjs";
import { startFacilitator } from "./facilitator.mjs";
import { open, premises, until } from "./service.mjs";
import { FACILITATOR, NODE, chance, startProxy } from "./fault_proxy.mjs";
import { freePort } from "../chain/nodes.mjs";

const [binary, postOffice, way, ordersWord = "80", seedWord] = process.argv.slice(2);
const orders = Number(ordersWord);
const seed = Number(seedWord ?? randomInt(1_000_000));
const speed = Number(process.env.CLOCK_SPEED ?? 20);

const SHORT = orders <= 300;
/** Concurrent payers, how long each of them tries, and how often the service is killed. */
const TOGETHER = SHORT ? 40 : 60;
const PATIENCE_SECONDS = SHORT ? 20 : 60;
const KILLS = SHORT ? 3 : Math.round(orders / 200);
/** How long the reconciler may take, on the service's clock. */
const REST_SECONDS = 2_400;
const NETWORKS = { 8453: "base", 137: "polygon", 42161: "arbitrum" };
/** Faults of the provider, in percent of the calls that reach each rule: together a third. */
const AT_THE_PROVIDER = { reset_before: 4, reset_after: 5, status_before: 4, status_after: 5, malformed: 4, truncated: 4, html_after: 4, rate_limited: 3, unauthorized: 2, timeout_before: 1, timeout_after: 1, list_empty: 5, list_lag: 3 };

const opened = [];
const chains = [];
let place;
let service;

const line = (...words) => console.log(`  ${words.join(" ")}`);

/** Starts the provider emulator, which prints its URL. */
async function startOffice() {
  const child = spawn(postOffice, ["0", String(orders + 1_000)], { stdio: ["ignore", "pipe", "inherit"] });
  opened.push({ stop: () => child.kill("SIGINT") });
  let said = "";
  child.stdout.on("data", text => (said += text));
  const url = await until("the provider emulator listens", () => said.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0]);
  const control = async (method, path, body) => {
    const response = await fetch(`${url}/__sandbox/${path}`, { method, headers: { "content-type": "application/json" }, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };
  return { url, control };
}

/** Eight accounts with USDC on every chain. */
async function startPayers() {
  const payers = [];
  for (let number = 2; number < 10; number += 1) {
    const person = account(number);
    const give = async chain => {
      await chain.fund(person.address, BigInt(orders) * 4n * DOLLARS);
      await chain.allow(person);
    };
    await Promise.all(chains.map(give));
    payers.push(Object.fromEntries(chains.map(chain => [chain.id, wallet(chain.network, person)])));
  }
  return payers;
}

/** Chains, facilitator and provider, with fault proxies before them. */
async function setUp() {
  for (const id of Object.keys(NETWORKS)) chains.push(await startChain(Number(id)));
  opened.push(...chains);
  const proxies = [];
  const proxy = async options => {
    const made = await startProxy({ seed, ...options });
    opened.push(made);
    proxies.push(made);
    return made.url;
  };
  const rpc = {};
  for (const { id, url } of chains) rpc[NETWORKS[id]] = await proxy({ place: `the node of ${NETWORKS[id]}`, target: url, kinds: NODE, phase: () => (way === "settler" ? 80 : 25) });
  const hands = { kind: way, account: way === "settler" ? who.facilitator : undefined };
  if (way === "facilitator") {
    const carrier = await startFacilitator(chains);
    opened.push(carrier);
    hands.facilitator = await proxy({ place: "the facilitator", target: carrier.url, kinds: FACILITATOR, phase: path => (path === "/supported" ? 1 : 15) });
  }
  const office = await startOffice();
  const payers = await startPayers();
  const rules = Object.entries(AT_THE_PROVIDER).map(([kind, percent], at) => ({ kind, percent, seed: 100 * seed + at, seconds: kind === "list_lag" ? 30 : 1 }));
  await office.control("POST", "faults", rules);
  place = premises({ ...hands, rpc, port: await freePort(), sandbox: { office: office.url, dialect: "lob" } });
  return { proxies, office, payers };
}

const log = () => join(place.folder, "log");
const start = async () => (service = await open(binary, place, log()));

/** Kills the service each time another share of the payers is done, after a random delay. */
async function kill(done) {
  for (let number = 1; number <= KILLS; number += 1) {
    await until("enough payers are done", () => done() >= (orders * number) / (KILLS + 2), 3_600);
    await new Promise(resolve => setTimeout(resolve, 500 * chance(seed, "kill", number)));
    await service.kill();
    await start();
  }
}

async function payWithFaults(wishes) {
  let done = 0;
  const waiting = [...wishes];
  const queue = async () => {
    for (let wish = waiting.shift(); wish; wish = waiting.shift()) {
      await buy(service.url, wish, { seed, seconds: PATIENCE_SECONDS });
      done += 1;
      if (!SHORT && done % 100 === 0) line(`${done} of ${orders} payers are done`);
    }
  };
  await Promise.all([kill(() => done), ...Array.from({ length: TOGETHER }, queue)]);
}

/** The status of every order, once all are at rest or the time is over. */
async function statuses(wishes) {
  const told = new Map();
  const look = async () => {
    for (const wish of wishes) {
      if (AT_REST.has(told.get(wish)?.status)) continue;
      const response = await fetch(`${service.url}/api/x402/orders/${wish.id}`);
      told.set(wish, await response.json());
    }
    for (const chain of chains) await chain.hand.mine({ blocks: 1 });
    return wishes.every(wish => AT_REST.has(told.get(wish).status));
  };
  await until("all orders are at rest", look, REST_SECONDS / speed).catch(error => line(error.message));
  // An order that was unpaid a while ago may have been paid since.
  for (const wish of wishes) told.set(wish, await (await fetch(`${service.url}/api/x402/orders/${wish.id}`)).json());
  return told;
}

/** Requests every order without a credential: 200 without a receipt if it is paid, else 402. */
async function lastQuestion(wishes, faults) {
  for (const wish of wishes) {
    const { status, receipt } = await say(service.url, wish);
    const expected = wish.paid ? 200 : 402;
    if (status !== expected || receipt) faults.push(`order ${wish.number} (${wish.id}): ${status} in the end, not ${expected}`);
  }
}

/** The aim is a third of all calls; with few calls it may be less. */
function checkFaultRate(proxies, faults) {
  const [broken, calls] = proxies.reduce(([some, all], { tally }) => [some + tally.broken, all + tally.calls], [0, 0]);
  if (broken < 0.2 * calls) faults.push(`too few faults: ${broken} of ${calls} calls failed`);
}

function tell(wishes, proxies, rules, calls) {
  const counts = {};
  for (const { status, code } of wishes.flatMap(({ said }) => said)) {
    const name = status ? `${status} ${code}` : "no answer";
    counts[name] = (counts[name] ?? 0) + 1;
  }
  for (const [name, count] of Object.entries(counts).sort(([, one], [, other]) => other - one)) line(String(count).padStart(6), name);
  for (const { place: name, tally } of proxies) line(`${name}: ${tally.broken} of ${tally.calls} calls failed`, JSON.stringify(tally.kinds));
  const broken = rules.reduce((sum, { broken_calls: struck }) => sum + struck, 0);
  line(`the provider: ${broken} of ${calls} calls failed`);
}

async function run() {
  const { proxies, office, payers } = await setUp();
  await start();
  const watches = chains.map(watch);
  const wishes = Array.from({ length: orders }, (_, number) => operation(number, { seed, payers, chains }));
  const begun = Date.now();
  await payWithFaults(wishes);
  line(`payments took ${Math.round((Date.now() - begun) / 1_000)} s, with ${KILLS} kills`);

  const { faults: rules } = await office.control("GET", "faults");
  const { journal } = await office.control("GET", "journal");
  const calls = journal.at(-1)?.number ?? 0;
  await office.control("DELETE", "faults");
  for (const proxy of proxies) proxy.calm();
  await service.kill();
  place.rehearse({ speed });
  await start();
  // Payers that never got an answer do not know the id of their order.
  for (const wish of wishes) {
    wish.id = wish.said.map(({ id }) => id).find(Boolean);
    if (!wish.id) wish.id = await until(`order ${wish.number} has an id`, async () => (await say(service.url, wish)).id);
  }
  const calm = Date.now();
  const told = await statuses(wishes);
  line(`all orders were at rest ${Math.round((Date.now() - calm) / 1_000)} s later, on a clock of speed ${speed}`);
  const paid = wishes.filter(wish => told.get(wish).payment);
  for (const wish of paid) wish.paid = true;
  const late = [];
  await lastQuestion(wishes, late);
  const report = await office.control("POST", "report", { expected: paid.map(({ id }) => id) });
  await service.stop();
  for (const watched of watches) await watched.stop();
  const payee = wishes.flatMap(({ said }) => said).find(({ terms }) => terms).terms.accepts[0].payTo;
  const found = await audit({ wishes, chains, watches, payee, statuses: told, report, store: place.store });
  tell(wishes, proxies, rules, calls);
  line(`${orders} orders: ${found.paid} paid by ${found.transfers} transfers of ${found.units} units in all, ${report.accepted} cards, ${found.unpaid} never paid`);
  checkFaultRate(proxies, late);
  return [...found.faults, ...late];
}

let faults;
try {
  console.log(`${orders} orders with faults, payments.kind = "${way}", seed ${seed}`);
  faults = await run();
} catch (error) {
  faults = [error.stack];
}
await service?.kill().catch(() => {});
for (const one of opened) one.stop();
for (const fault of faults.slice(0, 20)) console.log(`  FAIL  ${fault}`);
if (faults.length > 0) {
  console.log(`  ${faults.length} faults. To repeat: tests/x402/run-faults ${way} ${orders} ${seed}`);
  if (place) console.log(`  Store and log of the service: ${place.folder}`);
} else if (!process.env.KEEP) place?.remove();
process.exit(faults.length === 0 ? 0 : 1);
