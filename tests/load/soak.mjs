// Paying traffic for a long time while a fifth of all outside calls fail: memory, file handles, disk and backlog over time.
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { compare } from "../settlement/compare.mjs";
import { createAccounts, createOrderPatiently, payUntilSettled } from "../settlement/payers.mjs";
import { count, words } from "../settlement/table.mjs";
import { chance } from "../x402/fault_proxy.mjs";
import { until } from "../x402/service.mjs";
import { grouped, onStack, sleep } from "./campaign.mjs";
import { judge } from "./growth.mjs";
import { startProxyThread } from "./proxy_thread.mjs";
import { draw } from "./svg.mjs";
import { startVisitors } from "./visitors.mjs";

const ORDERS_PER_MINUTE = 200;
const FAILING = 0.2;
/** Faults of the provider, in percent of the calls that reach each rule: together a fifth. */
const AT_THE_PROVIDER = { reset_before: 3, reset_after: 3, status_before: 2, status_after: 3, malformed: 2, truncated: 2, rate_limited: 2, timeout_after: 1, list_empty: 3 };
const RAILS = ["x402", "mpp"];
const CARDS_PER_ACCOUNT = 250;
/** A payer who has no answer by then gives up; their order is completed or stays unpaid. */
const PATIENCE_SECONDS = 300;
/** Payers who repeat wait longer each time, up to this. */
const PAUSE_MILLISECONDS_MAX = 15_000;
/** After the faults the service's clock is faster: a card in doubt is submitted again after minutes. */
const SPEED = 20;
const REST_SECONDS = 300;
/** Curves of shorter runs do not replace the published ones. */
const PUBLISHED_MINUTES = 20;
const BACKLOG = "SELECT count(*) AS count FROM orders WHERE state NOT IN ('offered', 'lapsed', 'mailed', 'refunded')";

/** What the service uses at this moment. Each payer who waits for an answer has a connection, which is one of the file handles. */
function sample({ pid, folder }, begun, orders, waiting = 0) {
  const data = join(folder, "data");
  const store = new DatabaseSync(join(data, "pennyblack.sqlite3"), { readOnly: true });
  const { count: backlog } = store.prepare(BACKLOG).get();
  store.close();
  return {
    minutes: (Date.now() - begun) / 60_000,
    memory: Number(readFileSync(`/proc/${pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)[1]) / 1_024,
    handles: readdirSync(`/proc/${pid}/fd`).length,
    disk: readdirSync(data).map(name => statSync(join(data, name)).size).reduce((sum, size) => sum + size, 0) / 2 ** 20,
    backlog: Number(backlog),
    orders,
    waiting,
  };
}

async function setFaults({ provider }, rules) {
  const init = { method: rules ? "POST" : "DELETE", headers: { "content-type": "application/json" }, body: rules && JSON.stringify(rules) };
  const response = await fetch(`${provider.url}/__sandbox/faults`, init);
  if (!response.ok) throw new Error(`the provider does not take the faults: ${await response.text()}`);
  return response.json();
}

async function buy(stack, orders, number, account) {
  const order = await createOrderPatiently(stack, number, account, RAILS[number % RAILS.length]);
  orders.push(order);
  await payUntilSettled(stack.services, order, Date.now() + 1_000 * PATIENCE_SECONDS, PAUSE_MILLISECONDS_MAX);
}

/** New payers at a constant rate until the end, and samples meanwhile. */
async function payAndSample(stack, { minutes, perMinute }, accounts) {
  const [service] = stack.services;
  const [orders, samples, begun, buying] = [[], [], Date.now(), new Set()];
  const end = begun + 60_000 * minutes;
  const every = minutes >= PUBLISHED_MINUTES ? 10_000 : Math.min(10_000, (60_000 * minutes) / 30);
  let [number, nextSample, nextLine] = [0, begun, begun + 10_000];
  while (Date.now() < end) {
    const due = ((Date.now() - begun) * perMinute) / 60_000;
    for (; number < due; number += 1) {
      const one = buy(stack, orders, number, accounts[number % accounts.length]).finally(() => buying.delete(one));
      buying.add(one);
    }
    if (Date.now() >= nextSample) {
      samples.push(sample(service, begun, orders.length, buying.size));
      nextSample += every;
    }
    if (Date.now() >= nextLine) {
      const { minutes: at, memory, handles, disk, backlog } = samples.at(-1);
      console.log(`  ${at.toFixed(1)} min: ${grouped(orders.length)} orders, ${memory.toFixed(1)} MB, ${handles} file handles, ${disk.toFixed(1)} MB on disk, backlog ${backlog}, ${buying.size} payers waiting`);
      nextLine += minutes >= PUBLISHED_MINUTES ? 60_000 : 10_000;
    }
    await sleep(50);
  }
  return { orders, samples, begun, waiting: Promise.all(buying) };
}

async function measure(stack, plan, seed) {
  const [service] = stack.services;
  const accounts = await createAccounts(stack.chain, Math.max(20, Math.ceil((plan.minutes * plan.perMinute) / CARDS_PER_ACCOUNT)));
  await setFaults(stack, Object.entries(AT_THE_PROVIDER).map(([kind, percent], at) => ({ kind, percent, seed: 100 * seed + at, seconds: 1 })));
  const stopVisitors = startVisitors(service.url, (...what) => chance(seed, ...what));
  const { orders, samples, begun, waiting } = await payAndSample(stack, plan, accounts);
  const visits = await stopVisitors();
  const { faults: rules } = await (await fetch(`${stack.provider.url}/__sandbox/faults`)).json();
  await setFaults(stack, null);
  const tally = await stack.proxy.calm();
  console.log("  the faults have ended");
  await waiting;
  const ended = (Date.now() - begun) / 60_000;
  const grown = [...samples];
  await service.kill();
  service.rehearse({ speed: SPEED });
  await service.launch();
  let isEmpty = true;
  const look = () => {
    samples.push(sample(service, begun, orders.length));
    return samples.at(-1).backlog === 0;
  };
  await until("the backlog is empty", look, REST_SECONDS).catch(() => (isEmpty = false));
  const compared = await compare(stack, orders, REST_SECONDS);
  return { orders, samples, grown, ended, visits, compared, isEmpty, atProvider: rules.reduce((sum, { broken_calls: broken }) => sum + broken, 0), tally };
}

/** Writes the four curves, and answers their folder. */
function drawCurves(samples, ended, minutes) {
  const folder = minutes >= PUBLISHED_MINUTES ? "docs/proof" : "target/soak";
  mkdirSync(folder, { recursive: true });
  const curves = {
    memory: ["Resident memory", "MB"],
    handles: ["Open file handles", "number"],
    disk: ["Size of the store, with its log", "MB"],
    backlog: ["Orders that are not finished", "number"],
  };
  for (const [name, [title, unit]] of Object.entries(curves)) {
    writeFileSync(join(folder, `soak-${name}.svg`), draw(title, unit, samples.map(one => [one.minutes, one[name]]), [[ended, "traffic and faults end"]]));
  }
  return folder;
}

/** `size` is in minutes, optionally with the number of orders in a minute: `20x50`. */
export async function campaign(programs, size, seed) {
  const [minutes, perMinute = ORDERS_PER_MINUTE] = size.split("x").map(Number);
  const between = target => startProxyThread({ seed, place: "the node", target, share: FAILING });
  const options = { between, keptCards: Math.ceil(minutes * perMinute) + 5_000 };
  const result = await onStack(programs, options, async stack => {
    const found = await measure(stack, { minutes, perMinute }, seed);
    const { faults, figures } = judge(found.grown);
    const { compared, tally } = found;
    faults.push(...compared.disagreements);
    if (compared.lost + compared.doubled > 0) faults.push(`${compared.lost} lost, ${compared.doubled} doubled; ${compared.audit}`);
    if (!found.isEmpty || compared.owed > 0) faults.push(`the backlog is ${found.samples.at(-1).backlog} at the end; ${words(count(found.orders.map(({ status }) => status)))}`);
    if (tally.broken < 0.1 * tally.calls || found.atProvider === 0) faults.push(`too few faults: ${tally.broken} of ${tally.calls} calls of the node, ${found.atProvider} of the provider`);
    console.log(`  ${compared.audit}`);
    console.log(`  visitors: ${words(found.visits)}`);
    console.log(`  curves: ${drawCurves(found.samples, found.ended, minutes)}/soak-*.svg`);
    return { ...found, faults, figures };
  });
  if (!result.orders) return result;
  const { orders, compared, tally, atProvider, samples } = result;
  const paid = orders.filter(({ transfer }) => transfer).length;
  const figures = [
    `${minutes} minutes, ${perMinute} orders a minute, ${grouped(orders.length)} orders (${grouped(paid)} paid), ${grouped(tally.broken)} of ${grouped(tally.calls)} node calls and ${grouped(atProvider)} provider calls failed`,
    result.figures,
    `backlog at most ${Math.max(...samples.map(({ backlog }) => backlog))} and ${samples.at(-1).backlog} at the end`,
    `${compared.lost} lost, ${compared.doubled} doubled`,
    `seed ${seed}`,
  ];
  return { faults: result.faults, figures: figures.join("; ") };
}
