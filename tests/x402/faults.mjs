// Orders through the whole service with faults: a third of all outside calls fail, payers repeat and disconnect, and the
// service is killed. Then the faults end, and the audit compares chain, provider and orders.
//
//   node faults.mjs BINARY PROVIDER settler|facilitator [ORDERS [SEED]]
//
// PROVIDER is the example `provider` of the sandbox. CLOCK_SPEED multiplies the speed of the service's clock after
// the faults (default 20). KEEP=1 keeps the folder with store and log.
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { audit, readOrders, watch } from "./audit.mjs";
import { startChain, who } from "./chains.mjs";
import { chance } from "./fault_proxy.mjs";
import { NETWORKS, checkFaultRate, createPayers, printTallies, startFaultProxies, startProvider } from "./fault_stack.mjs";
import { buy, operation } from "./payers.mjs";
import { askOnceMore, waitForRest } from "./rest.mjs";
import { open, premises, until } from "./service.mjs";
import { freePort } from "../chain/nodes.mjs";

const [binary, providerBinary, way, ordersWord = "80", seedWord] = process.argv.slice(2);
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

const opened = [];
const chains = [];
let place;
let service;

const line = (...words) => console.log(`  ${words.join(" ")}`);

/** Chains, facilitator and provider, with faults before them. */
async function setUp() {
  for (const id of Object.keys(NETWORKS)) chains.push(await startChain(Number(id)));
  opened.push(...chains);
  const servers = await startFaultProxies({ seed, way, chains });
  const provider = await startProvider(providerBinary, orders + 1_000);
  opened.push(servers, provider);
  const accounts = await createPayers(chains, orders);
  await provider.fail(seed);
  const { rpc, facilitator } = servers;
  place = premises({ kind: way, account: way === "settler" ? who.facilitator : undefined, facilitator, rpc, port: await freePort(), sandbox: { provider: provider.url, dialect: "lob" } });
  return { servers, provider, accounts };
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
      await buy(() => service.url, wish, { seed, seconds: PATIENCE_SECONDS });
      done += 1;
      if (!SHORT && done % 100 === 0) line(`${done} of ${orders} payers are done`);
    }
  };
  await Promise.all([kill(() => done), ...Array.from({ length: TOGETHER }, queue)]);
}

async function run() {
  const { servers, provider, accounts } = await setUp();
  await start();
  const watches = chains.map(watch);
  const wishes = Array.from({ length: orders }, (_, number) => operation(number, { seed, accounts, chains }));
  const begun = Date.now();
  await payWithFaults(wishes);
  line(`payments took ${Math.round((Date.now() - begun) / 1_000)} s, with ${KILLS} kills`);

  const atTheProvider = await provider.calm();
  servers.calm();
  await service.kill();
  place.rehearse({ speed });
  await start();
  const calm = Date.now();
  const statuses = await waitForRest(service.url, wishes, { chains, seconds: REST_SECONDS / speed, line });
  line(`all orders were at rest ${Math.round((Date.now() - calm) / 1_000)} s later, on a clock of speed ${speed}`);
  const late = [];
  await askOnceMore(service.url, wishes, late);
  const report = await provider.report(wishes.filter(({ paid }) => paid).map(({ id }) => id));
  await service.stop();
  for (const watched of watches) await watched.stop();
  const payee = wishes.flatMap(({ said }) => said).find(({ terms }) => terms).terms.accepts[0].payTo;
  const found = await audit({ wishes, chains, watches, payee, statuses, report, stored: readOrders(place.store) });
  printTallies(wishes, [...servers.proxies, atTheProvider], line);
  line(`${orders} orders: ${found.paid} paid by ${found.transfers} transfers of ${found.units} units in all, ${report.accepted} cards, ${found.unpaid} never paid`);
  checkFaultRate(servers.proxies, late);
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
