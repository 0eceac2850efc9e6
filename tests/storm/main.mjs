// Several processes on one PostgreSQL in a storm: payments while calls, processes, clocks, database and network fail.
//
//   node main.mjs settler|facilitator x402|mpp|both PROCESSES ORDERS SEED
//
// BUILT has the programs, POSTGRES_PROGRAMS those of PostgreSQL, CLOCK_LIBRARY is libfaketime, and TMPDIR a new folder
// for everything that is kept if the test fails. CLOCK_SPEED is the speed of the clocks after the faults (default 20).
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RAILS } from "../settlement/payers.mjs";
import { STORED_ORDERS, audit, watch } from "../x402/audit.mjs";
import { startChain, who } from "../x402/chains.mjs";
import { chance } from "../x402/fault_proxy.mjs";
import { NETWORKS, checkFaultRate, createPayers, printTallies, startFaultProxies, startProvider } from "../x402/fault_stack.mjs";
import { buy, operation } from "../x402/payers.mjs";
import { askOnceMore, waitForRest } from "../x402/rest.mjs";
import { startDatabase } from "./database.mjs";
import { checkFencing, checkVersions, createSentTransactions } from "./fencing.mjs";
import { DATABASE, OUTSIDE, startNetwork } from "./network.mjs";
import { STATES, startStorm } from "./schedule.mjs";
import { startServices } from "./services.mjs";

const [way, rails, processesWord, ordersWord, seedWord] = process.argv.slice(2);
const [processes, orders, seed] = [processesWord, ordersWord, seedWord].map(Number);
const { BUILT, POSTGRES_PROGRAMS, CLOCK_LIBRARY, CLOCK_SPEED = "20" } = process.env;
const speed = Number(CLOCK_SPEED);

const BASE = 8453;
const isShort = orders <= 300;
/** Orders begin evenly over this time, or later if all payers are busy; each tries so long, and waits so long for one answer. */
const PAY_SECONDS = isShort ? 20 : 420;
const TOGETHER = isShort ? 24 : 40;
const PATIENCE_SECONDS = isShort ? 20 : 60;
const ANSWER_SECONDS = isShort ? 8 : 15;
/** How long nothing may be stuck after the faults. */
const REST_SECONDS = 600;
const PROGRESS_MILLISECONDS = 10_000;
/** More than a run costs on a development node. */
const GAS_BUDGET = Object.values(NETWORKS).map(name => `${name}=100000000000000`);
/** Only with this way and rail does no process of ours send transactions. */
const isSending = way === "settler" || rails !== "x402";
/** With fewer paid orders than this the storm shows nothing, for example because the machine is too busy. */
const PAID_LEAST = orders / (isShort ? 16 : 4);

const opened = [];
const begunAt = Date.now();
const line = (...words) => console.log(`  ${Math.round((Date.now() - begunAt) / 1_000)} s: ${words.join(" ")}`);
const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));
const portOf = url => Number(new URL(url).port);
/** The only name that the service accepts without TLS. It is the address of this program here, see `run`. */
const local = url => `http://localhost:${portOf(url)}`;

/** The provider emulator listens on the loopback address only; this makes it reachable from other namespaces. */
async function relay(url) {
  const server = createServer(inward => {
    const outward = connect(portOf(url), "127.0.0.1");
    inward.pipe(outward).pipe(inward);
    inward.on("error", () => outward.destroy());
    outward.on("error", () => inward.destroy());
  });
  await once(server.listen(0, OUTSIDE), "listening");
  opened.push({ stop: () => server.close() });
  return `http://${OUTSIDE}:${server.address().port}`;
}

async function startChains() {
  const ids = isShort || rails === "mpp" ? [BASE] : Object.keys(NETWORKS).map(Number);
  const chains = [];
  for (const id of ids) chains.push(await startChain(id));
  opened.push(...chains);
  return chains;
}

/** Everything but the processes of the service. */
async function setUp() {
  const network = await startNetwork(processes);
  const database = await startDatabase(network, { folder: join(tmpdir(), "databases"), programs: POSTGRES_PROGRAMS });
  opened.push(database);
  const chains = await startChains();
  const sent = createSentTransactions();
  // The facilitator has an account of its own; then another one settles MPP.
  const account = way === "settler" ? who.facilitator : who.minter;
  const servers = await startFaultProxies({ seed, way, chains, host: OUTSIDE, see: sent.see });
  const provider = await startProvider(join(BUILT, "examples/provider"), orders + 1_000);
  opened.push(servers, provider);
  const providerRelay = await relay(provider.url);
  const accounts = await createPayers(chains, orders);
  const first = new Map();
  for (const chain of chains) first.set(chain.id, await chain.reader.getTransactionCount({ address: account.address }));
  const peers = {
    database: { address: DATABASE },
    node: { address: OUTSIDE, ports: Object.values(servers.rpc).map(portOf) },
    provider: { address: OUTSIDE, ports: [portOf(providerRelay)] },
    ...(servers.facilitator && { facilitator: { address: OUTSIDE, ports: [portOf(servers.facilitator)] } }),
  };
  const settings = {
    kind: way,
    account: isSending ? account : undefined,
    rpc: Object.fromEntries(Object.entries(servers.rpc).map(([name, url]) => [name, local(url)])),
    facilitator: servers.facilitator && local(servers.facilitator),
    payments: { gas_budget_gwei: chains.map(({ id }) => GAS_BUDGET.find(text => text.startsWith(NETWORKS[id]))) },
    sandbox: { provider: local(providerRelay), dialect: "lob" },
  };
  const environment = { PENNYBLACK_KEYS: randomBytes(32).toString("hex"), PENNYBLACK_BASE_URL: "http://127.0.0.1:8402", PENNYBLACK_STORE: database.url };
  return { network, database, chains, sent, account, first, servers, provider, accounts, peers, settings, environment };
}

/** The payments and the storm around them. Each step of a payer goes to any process, whether that is alive or not. */
async function payInStorm({ wishes, services, database, network, peers }) {
  let done = 0;
  const begun = Date.now();
  const urlOf = (wish, step) => services[Math.floor(chance(seed, "process", wish.number, step) * services.length)].url;
  const waiting = [...wishes];
  const payer = async () => {
    for (let wish = waiting.shift(); wish; wish = waiting.shift()) {
      await sleep((1_000 * PAY_SECONDS * wish.number) / orders - (Date.now() - begun));
      await buy(urlOf, wish, { seed, seconds: PATIENCE_SECONDS, answerSeconds: ANSWER_SECONDS });
      done += 1;
    }
  };
  const storm = startStorm({ seed, isShort, isSending, services, database, network, peers, isOver: () => !isShort && done === orders });
  const progress = setInterval(() => line(`${done} of ${orders} payers are done; faults: ${Object.entries(storm.kinds).map(([kind, { strikes }]) => `${strikes} × ${kind}`).join(", ")}`), PROGRESS_MILLISECONDS);
  await Promise.all(Array.from({ length: TOGETHER }, payer));
  await storm.over;
  clearInterval(progress);
  return storm;
}

/** All processes again, on faster clocks that are still apart. */
async function restartFaster(services) {
  for (const service of services) {
    await service.kill();
    service.hasten(speed);
  }
  for (const service of services) await service.start();
}

/** The requirements on the storm itself: that it was one. */
function judgeStorm({ kinds: struck, takeovers, problems }, peers, faults) {
  faults.push(...problems);
  const demand = (holds, text) => holds || faults.push(text);
  const kinds = ["suspend", "kill", "restart immediate", "fail over fast", ...Object.keys(peers).map(peer => `cut process from ${peer}`)];
  if (!isShort) kinds.push("restart fast", "fail over immediate", "cut primary from replica");
  for (const kind of kinds) {
    demand(struck[kind], `no fault: ${kind}`);
    if (isShort) continue;
    for (const state of STATES) demand(struck[kind]?.states[state], `${kind} never struck an order in the state ${state}`);
  }
  if (isSending) demand(takeovers.done > 0, `${takeovers.done} of ${takeovers.possible} suspended senders were replaced by another process`);
}

function printStorm({ kinds, takeovers }, services) {
  const states = [...new Set(Object.values(kinds).flatMap(kind => Object.keys(kind.states)))].sort();
  console.log(`  ${"fault".padEnd(32)}${"strikes".padStart(8)}  of which with orders in the state`);
  for (const [kind, { strikes, states: struck }] of Object.entries(kinds).sort()) console.log(`  ${kind.padEnd(32)}${String(strikes).padStart(8)}  ${states.map(state => `${state} ${struck[state] ?? 0}`).join(", ")}`);
  console.log(`  ${takeovers.done} of ${takeovers.possible} suspended senders were replaced by another process`);
  console.log(`  clocks: ${services.map(({ offset }) => `${offset} s`).join(", ")}; starts: ${services.map(({ starts, failedStarts }) => `${starts}, ${failedStarts} of them in vain`).join("; ")}`);
}

function figures(found, storm, { fencing, versions, report }) {
  const number = value => value.toLocaleString("en-US");
  const strikes = Object.entries(storm.kinds).sort().map(([kind, { strikes: times }]) => `${times} × ${kind}`).join(", ");
  const sending = fencing ? `; ${number(fencing.writes)} outbox writes in ${number(fencing.epochs)} epochs, 0 by a process without the lease; ${number(fencing.transactions)} transactions, ${fencing.reverted} reverted; ${storm.takeovers.done} takeovers from a suspended sender` : "";
  return `${number(orders)} orders on ${processes} processes, ${number(found.paid)} paid by ${number(found.transfers)} transfers of ${number(found.units)} units, ${number(report.accepted)} cards, ${number(found.unpaid)} never paid; 0 lost, 0 doubled, 0 mailed unpaid, 0 × 402 in doubt, 0 stuck; ${strikes}; ${number(versions.events)} writes of orders, 0 of an old version${sending}; seed ${seed}`;
}

async function run() {
  const stack = await setUp();
  const { database, chains, servers, provider, accounts, settings, environment } = stack;
  await provider.fail(seed);
  const services = await startServices(join(BUILT, "pennyblack"), stack.network.services, { seed, settings, environment, clockLibrary: CLOCK_LIBRARY });
  opened.push({ stop: () => Promise.all(services.map(service => ((service.isEnding = true), service.kill()))) });
  await database.log();
  const watches = chains.map(watch);
  const railOf = number => RAILS[rails === "both" ? ["x402", "mpp"][number % 2] : rails];
  const wish = number => operation(number, { seed, accounts, chains: railOf(number) === RAILS.mpp ? [chains[0]] : chains, rail: railOf(number) });
  const wishes = Array.from({ length: orders }, (_, number) => wish(number));
  line(`${processes} processes, clocks ${services.map(({ offset }) => `${offset} s`).join(" and ")} from ours`);
  const storm = await payInStorm({ ...stack, wishes, services });
  line("all payers are done, and the faults end");
  const atTheProvider = await provider.calm();
  servers.calm();
  await restartFaster(services);
  const waiting = setInterval(() => line("waiting until all orders are at rest"), PROGRESS_MILLISECONDS);
  const statuses = await waitForRest(services[0].url, wishes, { chains, seconds: REST_SECONDS, line });
  clearInterval(waiting);
  line(`all orders are at rest, on clocks of speed ${speed}`);
  const faults = [];
  await askOnceMore(services.at(-1).url, wishes, faults);
  const report = await provider.report(wishes.filter(({ paid }) => paid).map(({ id }) => id));
  const fencing = isSending ? await checkFencing(stack) : null;
  const versions = await checkVersions(database);
  for (const service of services) await service.kill();
  for (const watched of watches) await watched.stop();
  const payee = wishes.flatMap(({ said }) => said).find(({ terms }) => terms).terms.accepts[0].payTo;
  const found = await audit({ wishes, chains, watches, payee, statuses, report, stored: await database.rows(STORED_ORDERS) });
  printTallies(wishes, [...servers.proxies, atTheProvider], (...words) => console.log(`  ${words.join(" ")}`));
  printStorm(storm, services);
  checkFaultRate(servers.proxies, faults);
  judgeStorm(storm, stack.peers, faults);
  if (found.paid < PAID_LEAST) faults.push(`only ${found.paid} of ${orders} orders were paid, so little is shown`);
  return { faults: [...found.faults, ...(fencing?.faults ?? []), ...versions.faults, ...faults], figures: figures(found, storm, { fencing, versions, report }) };
}

let result;
try {
  console.log(`${orders} orders on ${processes} processes, payments.kind = "${way}", paid by ${rails}, seed ${seed}`);
  result = await run();
} catch (error) {
  result = { faults: [error.stack], figures: "the test did not finish" };
}
for (const one of opened.reverse()) await Promise.resolve().then(one.stop).catch(() => {});
for (const fault of result.faults.slice(0, 20)) console.log(`  FAIL  ${fault}`);
if (result.faults.length > 0) {
  console.log(`  ${result.faults.length} faults. Stores and logs: ${tmpdir()}`);
  console.log(`To repeat: tests/storm/run ${way} ${rails} ${processes} ${orders} ${seed}`);
  console.log(`figures: FAILED with ${result.faults.length} faults; seed ${seed}`);
} else console.log(`figures: ${result.figures}`);
process.exit(result.faults.length === 0 ? 0 : 1);
