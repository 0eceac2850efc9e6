// Power losses under paying traffic: at each instant the disk drops and tears what was not synced, all processes on it
// are killed and started again, and what was acknowledged must be there.
import { createCheck } from "./check.mjs";
import { withEvidence } from "./evidence.mjs";
import { settle, within } from "./settle.mjs";
import { createStore } from "./stores.mjs";
import { startTraffic } from "./traffic.mjs";

const PAYERS = 8;
/** Then chain, provider, disk and store are new, and the power fails while the store is created. */
const INSTANTS_TOGETHER = 250;
const ORDERS_TOGETHER = 4_000;
/** Power losses while the store is created. */
const FIRST_STARTS = 3;
/** Share of the others that happen while the store or the service starts. */
const STARTS = 0.1;
/** Share of the others that follow at once on an answer 200. */
const ANSWERS = 0.4;
/** Share of the power losses of PostgreSQL that the service survives, as on another machine. */
const SURVIVES = 0.5;
/** If there are fewer changes than chosen, the power fails after this time. */
const LONGEST_ROUND_MILLISECONDS = 2_000;
const NOTICE_MILLISECONDS = 1_000;
/** Changes on the disk until the power fails: often few, and at times so many that there is a checkpoint. */
const CHANGES = { sqlite: { start: 60, few: 150, usual: 900, many: 3_000 }, postgres: { start: 1_500, few: 60, usual: 300, many: 1_500 } };

function chooseChanges(random, { few, usual, many }) {
  if (random.chance(0.4)) return random.between(1, few);
  return random.between(1, random.chance(0.85) ? usual : many);
}

/** Starts what is down and checks the store; says what is wrong, and whether the power failed before all was up. */
async function start(store, service, check) {
  const wrong = [];
  try {
    if (store.readStopped) wrong.push(...(await check(store.readStopped)));
    await store.start();
    if (!store.readStopped) wrong.push(...(await check(store.readRunning)));
    if (!service.alive) await service.launch();
    return { wrong, isLost: false };
  } catch (error) {
    // The notice of the power loss may arrive later than its consequences.
    if (!(await store.disk.lost(NOTICE_MILLISECONDS))) throw error;
    return { wrong, isLost: true };
  }
}

/** Starts the service, loses the power at a random instant and restores the disk. */
async function round(store, service, { random, figures, check, traffic, isFirst }) {
  const changes = CHANGES[store.kind];
  const isDuringStart = isFirst || random.chance(STARTS);
  if (isDuringStart) await store.disk.loseAfter(random.between(1, changes.start));
  const { wrong, isLost } = await start(store, service, check);
  if (!isDuringStart && random.chance(ANSWERS)) {
    const isAnswered = await within(LONGEST_ROUND_MILLISECONDS, traffic.answered().then(() => true));
    figures["at an answer"] += Number(isAnswered ?? false);
    await store.disk.loseNow();
  } else if (!isDuringStart) await store.disk.loseAfter(chooseChanges(random, changes));
  if (!(await store.disk.lost(LONGEST_ROUND_MILLISECONDS))) await store.disk.loseNow();
  if (store.kind === "sqlite" || !random.chance(SURVIVES)) await service.kill();
  await store.kill();
  figures.instants += 1;
  figures["while starting"] += Number(isLost);
  for (const [name, number] of Object.entries(store.disk.loss)) figures[name] += number;
  await store.disk.remount();
  return wrong;
}

/** Several instants on one disk, and a comparison of everything in the end. */
async function epoch(kind, programs, { random, instants, figures, progress, evidence }) {
  const store = await createStore(kind, programs, random.between(0, 1e9));
  evidence.store = store;
  const wrong = await withEvidence(programs, { environment: store.environment, isStarted: false }, async stack => {
    const [service] = stack.services;
    const traffic = startTraffic(stack, PAYERS);
    const { check, figures: acknowledged } = createCheck(stack, traffic.orders);
    for (let done = 0; done < instants && traffic.orders.length < ORDERS_TOGETHER; done += 1) {
      const wrong = await round(store, service, { random, figures, check, traffic, isFirst: done < FIRST_STARTS });
      if (wrong.length > 0) return wrong;
      progress(`${acknowledged.answers} orders paid on this disk`);
    }
    const { wrong } = await start(store, service, check);
    if (wrong.length === 0) wrong.push(...(await settle(stack, traffic)));
    figures.orders += traffic.orders.length;
    for (const name of ["answers", "transfers", "cards"]) figures[name] += acknowledged[name];
    return wrong;
  });
  if (wrong.length === 0) {
    await store.remove();
    evidence.store = null;
  }
  return wrong;
}

/** What is wrong; `figures` are counted meanwhile. */
export async function losses(kind, programs, { random, size, progress, evidence, figures }) {
  Object.assign(figures, { instants: 0, orders: 0, answers: 0, transfers: 0, cards: 0, dropped: 0, reached: 0, torn: 0, names: 0, "while starting": 0, "at an answer": 0 });
  while (figures.instants < size) {
    const instants = Math.min(INSTANTS_TOGETHER, size - figures.instants);
    const wrong = await epoch(kind, programs, { random, instants, figures, evidence, progress: text => progress(figures.instants, text) });
    if (wrong.length > 0) return wrong;
  }
  return ["dropped", "reached", "torn", "names", "while starting", "at an answer"].filter(name => size >= 200 && figures[name] === 0).map(name => `never happened: ${name}`);
}
