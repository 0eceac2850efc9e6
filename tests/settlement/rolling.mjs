// Two processes on PostgreSQL are upgraded one after the other, and their key is rotated, while payers pay.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compare } from "./compare.mjs";
import { createAccounts, createOrder, send } from "./payers.mjs";
import { withStack } from "./stack.mjs";
import { count, percentile, seconds, startTable, words } from "./table.mjs";

const COLUMNS = ["processes", "upgrades", "seconds", "orders", "p50", "p99", "refused connections", "lost", "doubled", "owed", "answers"];
const PAYERS = 8;
/** A payer who was paid for buys the next card after this time, so that the machine is not the limit. */
const PAUSE_MILLISECONDS = 100;
const REFUSED_MILLISECONDS = 20;
const PATIENCE_SECONDS = 60;
const REST_SECONDS = 20;
const RAILS = ["x402", "mpp"];

const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

/** A connection that was refused or closed, as the built-in client reports it. */
const isRefused = error => error instanceof TypeError && error.message === "fetch failed";

/** A challenge from one process, paid at the other one first. Only a connection without an answer is repeated. */
async function buy(stack, number, account, refused) {
  const rail = RAILS[Math.floor(number / 2) % RAILS.length];
  let order = null;
  for (let attempt = 0; order === null; attempt += 1) {
    try {
      order = await createOrder(stack, number + attempt, account, rail);
    } catch (error) {
      if (!isRefused(error)) throw error;
      refused.challenges += 1;
      await sleep(REFUSED_MILLISECONDS);
    }
  }
  const end = Date.now() + 1_000 * PATIENCE_SECONDS;
  for (let attempt = 1; order.outcome === null && Date.now() < end; attempt += 1) {
    const status = await send(stack.services[(number + attempt) % stack.services.length].url, order);
    if (status !== 0) break;
    await sleep(REFUSED_MILLISECONDS);
  }
  return order;
}

/** The key file before, between and after the two rounds of upgrades. */
function keyFiles(folder) {
  const [first, second] = [randomBytes(32), randomBytes(32)].map(bytes => bytes.toString("hex"));
  const path = join(folder, "keys");
  const write = text => writeFileSync(path, text, { mode: 0o600 });
  write(`${first}\n`);
  return { path, prepare: () => write(`${first}\nnext ${second}\n`), promote: () => write(`${first}\n${second}\n`) };
}

async function measure(stack, keys) {
  const accounts = await createAccounts(stack.chain, PAYERS);
  const [orders, refused, codes] = [[], { challenges: 0 }, []];
  let isUpgrading = true;
  let number = 0;
  const payer = async account => {
    while (isUpgrading) {
      orders.push(await buy(stack, number++, account, refused));
      await sleep(PAUSE_MILLISECONDS);
    }
  };
  const begun = Date.now();
  const upgrade = async () => {
    await sleep(1_000);
    for (const change of [keys.prepare, keys.promote]) {
      change();
      for (const service of stack.services) {
        codes.push(await service.upgrade());
        await sleep(500);
      }
    }
  };
  const upgrading = upgrade().finally(() => (isUpgrading = false));
  await Promise.all([upgrading, ...accounts.map(payer)]);
  const took = Date.now() - begun;
  return { ...(await compare(stack, orders, REST_SECONDS)), orders, refused, codes, took };
}

/** The requirements that were missed. */
function judge({ orders, codes, owed, lost, doubled, disagreements }) {
  const missed = [];
  const demand = (holds, text) => holds || missed.push(`rolling: ${text}`);
  const failed = orders.filter(({ outcome }) => outcome !== "paid");
  const statuses = orders.flatMap(({ statuses }) => statuses);
  demand(orders.length >= 2 * PAYERS, `only ${orders.length} orders, so nothing is shown`);
  demand(failed.length === 0, `${failed.length} payments failed, for example ${JSON.stringify(failed.slice(0, 1).map(({ id, rail, status, statuses, code, refusal }) => ({ id, rail, status, statuses, code, refusal })))}`);
  demand(statuses.every(status => status < 500), `answers ${words(count(statuses.filter(status => status >= 500)))}`);
  demand(codes.every(code => code === 0), `a process ended with ${codes}`);
  demand(owed === 0 && lost === 0 && doubled === 0, `${owed} cards owed, ${lost} orders lost, ${doubled} doubled`);
  return [...missed, ...disagreements.slice(0, 5).map(text => `rolling: ${text}`)];
}

export async function rolling(programs) {
  const print = startTable(`Two processes are upgraded twice each, and their key is rotated, while ${PAYERS} payers pay by x402 and MPP`, COLUMNS);
  const folder = mkdtempSync(join(tmpdir(), "pennyblack-keys-"));
  try {
    const keys = keyFiles(folder);
    const found = await withStack(programs, { processes: 2, store: "postgres", keyFile: keys.path }, stack => measure(stack, keys));
    const { orders, refused, codes, took, lost, doubled, owed } = found;
    const times = orders.map(({ sent, answered }) => answered - sent);
    const statuses = orders.flatMap(({ statuses }) => statuses);
    print({
      processes: 2,
      upgrades: codes.length,
      seconds: seconds(took),
      orders: orders.length,
      p50: seconds(percentile(times, 0.5)),
      p99: seconds(percentile(times, 0.99)),
      "refused connections": refused.challenges + statuses.filter(status => status === 0).length,
      lost,
      doubled,
      owed,
      answers: words(count(statuses.filter(status => status > 0))),
    });
    console.log(`    audit: ${found.audit}`);
    return judge(found);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
