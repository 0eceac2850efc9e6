// Kills the whole service at random instants under paying traffic, and compares chain, provider and orders.
//
//   node main.mjs BINARY PROVIDER sqlite|postgres KILLS SEED
import { existsSync } from "node:fs";
import { join } from "node:path";
import { grouped, onStack, runCampaign, sleep } from "../load/campaign.mjs";
import { AT_REST } from "../x402/audit.mjs";
import { compare, newLedger } from "../settlement/compare.mjs";
import { createAccounts, createOrderPatiently, payUntilSettled, send, sendUntilAnswered } from "../settlement/payers.mjs";
import { count, percentile, words } from "../settlement/table.mjs";
import { chance } from "../x402/fault_proxy.mjs";
import { until } from "../x402/service.mjs";
import { startGate } from "./gate.mjs";
import { readStates } from "./states.mjs";

const [binary, providerBinary, store, killsWord, seedWord] = process.argv.slice(2);
const [kills, seed] = [Number(killsWord), Number(seedWord)];

/** From this many kills on, every state and phase must have been hit. */
const FULL_KILLS = 400;
const PAYERS = 12;
/** Each account has funds for about 280 cards. */
const ACCOUNTS = kills >= FULL_KILLS ? 120 : PAYERS;
const RAILS = ["x402", "mpp"];
/** The share of payers who do not come back if their first request gets no answer. Their orders are completed without them. */
const QUITTERS = 0.25;
/** Statuses of an order whose payment is not in doubt any more. */
const DECIDED = new Set([...AT_REST, "paid", "fulfillment_needs_reconciliation"]);
/** The share of kills that come before the service listens, or soon after. */
const EARLY = 0.3;
/** The others come at most this long after it listens; on a slow machine at most this many times as long as the start takes. */
const SERVING_MILLISECONDS = 450;
const SERVING_STARTS = 3;
/** The share of processes that never reach the node, so that payments stay in doubt. */
const CUT_OFF = 0.06;
const COMPARE_EVERY = 100;
/** Payers that are in between when the kills pause get their answer in this time. */
const ANSWER_SECONDS = 90;
/** How long an order may need until it is at rest, at the comparisons on the way and at the end. */
const REST_SECONDS = { between: 1, end: 1_200 };
/**
 * At the end no payer is left, and the service's clock can be faster: a card in doubt is submitted again after minutes.
 * The mailed cards of the last minutes are then due too, and a slow machine needs a while for them.
 */
const SPEED = 20;
const REPEATS = 200;
/** States that an order can have without an operator and without waiting for hours. */
const STATES = ["settling", "unconfirmed", "submitting", "unfulfilled_lost", "mailed"];
const PHASES = ["before the store exists", "starting", "serving"];

const luck = (...what) => chance(seed, ...what);

/** Payers who buy one card after the other, also while the service is down. */
function startPayers(stack, accounts) {
  const [orders, waiting, abandoned, faults] = [[], new Set(), [], []];
  let number = 0;
  let gate = null;
  let isOver = false;

  const ask = () => {
    const at = number++;
    return createOrderPatiently(stack, at, accounts[at % accounts.length], RAILS[at % 2]);
  };
  let inside = 0;
  const payer = async () => {
    while (!isOver) {
      if (gate) {
        await gate.opened;
        continue;
      }
      inside += 1;
      const order = await ask();
      orders.push(order);
      waiting.add(order);
      const isOnce = luck("quits", order.number) < QUITTERS && stack.services[0].alive;
      if (isOnce && (await send(stack.services[0].url, order)) === 0) abandoned.push(order);
      else await payUntilSettled(stack.services, order, Infinity);
      waiting.delete(order);
      inside -= 1;
      if (order.outcome !== "paid" && !abandoned.includes(order)) faults.push(`order ${order.number} (${order.id}, ${order.rail}): ${order.refusal}`);
    }
  };
  const paying = Promise.all(Array.from({ length: PAYERS }, payer));
  return {
    orders,
    waiting,
    abandoned,
    faults,
    /** Lets every payer finish the card that they are buying, and starts no further one. */
    async pause() {
      gate = {};
      gate.opened = new Promise(resolve => (gate.open = resolve));
      await Promise.race([paying, until("every payer has their 200", () => inside === 0, ANSWER_SECONDS)]);
    },
    resume() {
      gate.open();
      gate = null;
    },
    stop() {
      isOver = true;
      gate?.open();
      return paying;
    },
  };
}

/** How long the last start took that was not interrupted. */
let startMilliseconds = 100;

/** Starts the service and kills it at a random instant; the answer is how far it had come. */
async function killOnce(stack, number) {
  const [service] = stack.services;
  const isCutOff = luck("cut off", number) < CUT_OFF;
  if (isCutOff) stack.proxy.close();
  const begun = Date.now();
  const opening = service.launch();
  if (luck("early", number) < EARLY) await Promise.race([opening, sleep(1.2 * startMilliseconds * luck("start", number))]);
  else {
    await opening;
    startMilliseconds = Date.now() - begun;
    await sleep(Math.max(SERVING_MILLISECONDS, SERVING_STARTS * startMilliseconds) * luck("serving", number));
  }
  const phase = service.alive ? "serving" : store === "sqlite" && !existsSync(join(service.folder, "data/pennyblack.sqlite3")) ? PHASES[0] : "starting";
  await service.kill();
  if (isCutOff) await stack.proxy.open();
  return { phase, isCutOff };
}

const demandAgreement = ({ audit, disagreements, lost, doubled }, when) => [
  ...disagreements.map(text => `${when}: ${text}`),
  ...(lost + doubled > 0 ? [`${when}: ${lost} orders lost, ${doubled} doubled; ${audit}`] : []),
];

/** Waits until the payments of payers who did not come back are decided. */
async function waitForAbandoned({ services: [{ url }] }, abandoned) {
  const open = new Set(abandoned);
  const look = async () => {
    for (const order of open) {
      const { status } = await (await fetch(`${url}/api/x402/orders/${order.id}`)).json();
      if (DECIDED.has(status)) open.delete(order);
    }
    return open.size === 0;
  };
  await until("the payments of payers who did not come back are decided", look, ANSWER_SECONDS);
}

/** Pauses the payers, and compares everything so far. */
async function compareBetween(stack, payers, ledger, number) {
  await stack.services[0].launch();
  await payers.pause();
  await waitForAbandoned(stack, payers.abandoned);
  const found = await compare(stack, payers.orders, REST_SECONDS.between, undefined, ledger);
  console.log(`  ${grouped(number)} kills, ${grouped(payers.orders.length)} orders; ${found.audit}`);
  payers.resume();
  return demandAgreement(found, `after ${number} kills`);
}

/** Some payers send the same payment once more; the answer is 200 with the same id. */
async function repeatSome({ services: [{ url }] }, orders) {
  const some = orders.toSorted((one, other) => luck("repeat", one.number) - luck("repeat", other.number)).slice(0, REPEATS);
  const faults = [];
  for (const order of some) {
    const status = await sendUntilAnswered(url, order);
    if (status !== 200) faults.push(`order ${order.number} (${order.id}): a repeated payment is answered ${status} ${order.code}`);
  }
  for (const { number, ids } of orders) if (ids.size !== 1) faults.push(`order ${number} has the ids ${[...ids].join(", ")}`);
  return faults;
}

/** Everything is at rest at last, and nothing is owed. */
async function compareAtTheEnd(stack, payers, ledger) {
  const [service] = stack.services;
  await service.launch();
  await payers.pause();
  await payers.stop();
  const answered = payers.orders.filter(order => !payers.abandoned.includes(order));
  const faults = [...payers.faults, ...(await repeatSome(stack, answered))];
  await service.kill();
  service.rehearse({ speed: SPEED });
  await service.launch();
  console.log("  waiting until every order is at rest");
  const found = await compare(stack, payers.orders, REST_SECONDS.end, undefined, ledger);
  faults.push(...demandAgreement(found, "at the end"));
  if (!found.rest.isAtRest || found.owed > 0) faults.push(`at the end: ${found.owed} cards are owed; ${words(count(payers.orders.map(({ status }) => status)))}`);
  return { ...found, faults };
}

async function campaign(stack) {
  const accounts = await createAccounts(stack.chain, ACCOUNTS);
  await stack.services[0].kill();
  const payers = startPayers(stack, accounts);
  const ledger = newLedger();
  const [phases, hits, faults, times] = [[], {}, [], []];
  let cutOff = 0;
  for (let number = 1; number <= kills; number += 1) {
    const begun = Date.now();
    const { phase, isCutOff } = await killOnce(stack, number);
    phases.push(phase);
    cutOff += isCutOff ? 1 : 0;
    // A look at the store opens it, which may already recover it. The other half of the starts find it untouched.
    if (luck("look", number) < 0.5) {
      for (const [state, orders] of Object.entries(readStates(stack, [...payers.waiting]))) {
        hits[state] ??= { kills: 0, orders: 0 };
        hits[state].kills += 1;
        hits[state].orders += orders;
      }
    }
    times.push(Date.now() - begun);
    if (number % COMPARE_EVERY === 0 && number < kills) faults.push(...(await compareBetween(stack, payers, ledger, number)));
    else if (number % 20 === 0) console.log(`  ${grouped(number)} kills, ${grouped(payers.orders.length)} orders`);
    if (faults.length > 0) break;
  }
  const end = await compareAtTheEnd(stack, payers, ledger);
  faults.push(...end.faults);
  const phaseCounts = count(phases);
  const states = Object.entries(hits).map(([state, { kills: times, orders }]) => `${state} at ${grouped(times)} kills (${grouped(orders)} orders)`);
  console.log(`  the process died: ${words(phaseCounts)}; a kill took ${percentile(times, 0.5)} ms (median)`);
  console.log(`  states in the store after every second kill: ${states.join(", ")}`);
  console.log(`  ${end.audit}`);
  if (kills >= FULL_KILLS) {
    for (const state of STATES) if (!hits[state]) faults.push(`no process died while an order was ${state}`);
    for (const phase of PHASES.slice(1)) if (!phaseCounts[phase]) faults.push(`no process died ${phase}`);
  } else if (!phaseCounts.serving) faults.push("no process died while it served");
  const answers = count(payers.orders.flatMap(({ statuses }) => statuses));
  const by = rail => grouped(payers.orders.filter(order => order.rail === rail).length);
  const figures = [
    `${grouped(phases.length)} kills on ${store} (${words(phaseCounts)}; ${cutOff} of them without the node)`,
    `${grouped(payers.orders.length)} orders (${by("x402")} x402, ${by("mpp")} MPP), ${grouped(answers[200] ?? 0)} answers 200, ${grouped(answers[0] ?? 0)} connections lost, ${grouped(payers.abandoned.length)} payers did not come back (${grouped(payers.abandoned.filter(({ transfer }) => transfer).length)} of them paid)`,
    `${end.lost} lost, ${end.doubled} doubled, ${end.owed} owed`,
    `states hit: ${states.join(", ")}`,
    `seed ${seed}`,
  ];
  return { faults, figures: figures.join("; ") };
}

console.log(`${grouped(kills)} kills on ${store}, seed ${seed}`);
const options = { store, between: startGate, keptCards: 40 * kills + 5_000 };
await runCampaign(`tests/kills/run ${store} ${kills} ${seed}`, () => onStack({ binary, providerBinary }, options, campaign));
