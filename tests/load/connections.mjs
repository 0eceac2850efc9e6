// Idle and slow connections, then a flood of unpaid requests, beside honest traffic: its p99, the memory, and when slow ones are closed.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { createAccounts, createOrder, send } from "../settlement/payers.mjs";
import { milliseconds, percentile, words } from "../settlement/table.mjs";
import { grouped, onStack, sleep } from "./campaign.mjs";

const SIZES = {
  short: { idle: 900, slow: 100, seconds: 6, openSeconds: 14 },
  full: { idle: 10_000, slow: 1_000, seconds: 60, openSeconds: 60 },
};
/** More than are opened here; further ones would wait in the backlog. */
const CONNECTIONS_MAX = 15_000;
const HONEST_PER_SECOND = 40;
const P99_MILLISECONDS = 50;
const P99_TIMES = 2;
const MEMORY_MB = 300;
/** The limit of a slow body is 9 seconds; the opener may notice the end a little later. */
const CLOSED_SECONDS = 10;
const FLOODERS = 4;
const OPEN_SECONDS = 120;

const memory = ({ pid }) => Number(readFileSync(`/proc/${pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)[1]) / 1_024;

/** Samples the resident memory of a process; the answer stops and returns the maximum in MB. */
function watchMemory(service) {
  let most = memory(service);
  const timer = setInterval(() => (most = Math.max(most, memory(service))), 100);
  return () => (clearInterval(timer), most);
}

function startHonest(url, order) {
  const worker = new Worker(new URL("honest.mjs", import.meta.url), { workerData: { url, perSecond: HONEST_PER_SECOND, order } });
  /** The times since the last call, in milliseconds, and the answers that were not as expected. */
  const take = () => new Promise((resolve, reject) => {
    worker.once("message", resolve).once("error", reject);
    worker.postMessage("take");
  });
  return { take, stop: () => worker.postMessage("stop") };
}

/** Starts the opener, and waits until its connections are open. */
async function startOpener(port, { idle, slow }) {
  const child = spawn("python3", [new URL("opener.py", import.meta.url).pathname, port, idle, slow], { stdio: ["pipe", "pipe", "inherit"] });
  let printed = "";
  child.stdout.on("data", text => (printed += text));
  const closed = new Promise(resolve => child.once("close", resolve));
  const end = Date.now() + 1_000 * OPEN_SECONDS;
  while (!printed.includes("open\n")) {
    if (Date.now() > end || child.exitCode !== null) throw new Error("the connections could not be opened");
    await sleep(50);
  }
  /** Closes all connections; the answer is what became of them. */
  return async () => {
    child.stdin.end();
    await closed;
    return JSON.parse(printed.trim().split("\n").at(-1));
  };
}

function startFlood(url) {
  const workers = Array.from({ length: FLOODERS }, (_, at) => new Worker(new URL("flooder.mjs", import.meta.url), { workerData: { url, source: `127.0.0.${40 + at}` } }));
  return async () => {
    const counts = await Promise.all(workers.map(worker => new Promise((resolve, reject) => {
      worker.once("message", resolve).once("error", reject);
      worker.postMessage("stop");
    })));
    const all = {};
    for (const [status, times] of counts.flatMap(Object.entries)) all[status] = (all[status] ?? 0) + times;
    return all;
  };
}

/** Honest traffic for some seconds while `start` has effect. */
async function phase(service, honest, seconds, start = async () => async () => null) {
  const stopWatching = watchMemory(service);
  const stop = await start();
  await honest.take();
  await sleep(1_000 * seconds);
  const { times, wrong } = await honest.take();
  const found = await stop();
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99), requests: times.length, wrong, memory: stopWatching(), found };
}

async function measure(stack, plan) {
  const [service] = stack.services;
  const order = await createOrder(stack, 0, (await createAccounts(stack.chain, 1))[0], "x402");
  await send(service.url, order);
  const honest = startHonest(service.url, order.id);
  await sleep(2_000);
  const port = new URL(service.url).port;
  const phases = { quiet: await phase(service, honest, plan.seconds) };
  phases.connections = await phase(service, honest, plan.openSeconds, () => startOpener(port, plan));
  phases.flood = await phase(service, honest, plan.seconds, async () => startFlood(service.url));
  honest.stop();
  return phases;
}

function judge({ quiet, connections, flood }, { idle, slow }) {
  const faults = [];
  const bar = Math.max(P99_MILLISECONDS, P99_TIMES * quiet.p99);
  for (const [name, { p50, p99, wrong, requests, memory: most }] of Object.entries({ quiet, connections, flood })) {
    console.log(`  ${name}: ${grouped(requests)} honest requests, p50 ${milliseconds(p50)} ms, p99 ${milliseconds(p99)} ms, memory at most ${most.toFixed(0)} MB`);
    if (!(p99 <= bar)) faults.push(`${name}: p99 is ${milliseconds(p99)} ms, at most ${milliseconds(bar)}`);
    if (most > MEMORY_MB) faults.push(`${name}: ${most.toFixed(0)} MB of memory, at most ${MEMORY_MB}`);
    if (Object.keys(wrong).length > 0) faults.push(`${name}: honest requests were answered ${words(wrong)}`);
  }
  const { kinds, mean } = connections.found;
  for (const [name, { opened, closed, failed, longest }] of Object.entries(kinds)) {
    console.log(`  ${name}: ${grouped(opened)} opened, ${grouped(closed)} closed by the service after ${longest} s at most, ${failed} refused`);
    if (longest > CLOSED_SECONDS || (closed === 0 && opened > 0)) faults.push(`${name}: closed after ${longest} s, at most ${CLOSED_SECONDS}`);
  }
  // They are opened again a moment after they are closed.
  if (mean < 0.8 * (idle + slow)) faults.push(`only ${mean} connections were open on average`);
  console.log(`  flood: ${words(flood.found)}`);
  return faults;
}

export async function campaign(programs, size, seed) {
  const plan = SIZES[size];
  const options = { limits: { connections: CONNECTIONS_MAX } };
  const result = await onStack(programs, options, async stack => {
    const phases = await measure(stack, plan);
    return { faults: judge(phases, plan), phases };
  });
  if (!result.phases) return result;
  const { quiet, connections, flood } = result.phases;
  const longest = Math.max(...Object.values(connections.found.kinds).map(kind => kind.longest));
  const flooded = Object.values(flood.found).reduce((sum, one) => sum + one, 0);
  const figures = [
    `${grouped(plan.idle)} idle and ${grouped(plan.slow)} slow connections for ${plan.openSeconds} s (${grouped(connections.found.mean)} open on average)`,
    `p99 of honest requests ${milliseconds(connections.p99)} ms (quiet ${milliseconds(quiet.p99)} ms), ${connections.memory.toFixed(0)} MB, all closed within ${longest} s`,
    `flood of ${grouped(flooded / plan.seconds)} unpaid requests a second: p99 ${milliseconds(flood.p99)} ms, ${flood.memory.toFixed(0)} MB`,
    `seed ${seed}`,
  ];
  return { faults: result.faults, figures: figures.join("; ") };
}
