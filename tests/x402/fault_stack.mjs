// What tests with faults run on: the provider emulator, fault proxies before nodes and facilitator, and payers with funds.
import { spawn } from "node:child_process";
import { DOLLARS } from "./buyer.mjs";
import { account } from "./chains.mjs";
import { startFacilitator } from "./facilitator.mjs";
import { FACILITATOR, NODE, startProxy } from "./fault_proxy.mjs";
import { until } from "./service.mjs";

export const NETWORKS = { 8453: "base", 137: "polygon", 42161: "arbitrum" };
/** Faults of the provider, in percent of the calls that reach each rule: together a third. */
const AT_THE_PROVIDER = { reset_before: 4, reset_after: 5, status_before: 4, status_after: 5, malformed: 4, truncated: 4, html_after: 4, rate_limited: 3, unauthorized: 2, timeout_before: 1, timeout_after: 1, list_empty: 5, list_lag: 3 };

/** Starts the provider emulator, which prints its URL and remembers so many cards. */
export async function startProvider(binary, cards) {
  const child = spawn(binary, ["0", String(cards)], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", text => (said += text));
  const url = await until("the provider emulator listens", () => said.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0]);
  const control = async (method, path, body) => {
    const response = await fetch(`${url}/__sandbox/${path}`, { method, headers: { "content-type": "application/json" }, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };
  const fail = seed => {
    const rules = Object.entries(AT_THE_PROVIDER).map(([kind, percent], at) => ({ kind, percent, seed: 100 * seed + at, seconds: kind === "list_lag" ? 30 : 1 }));
    return control("POST", "faults", rules);
  };
  /** Ends the faults, and returns how many calls failed of how many. */
  const calm = async () => {
    const { faults } = await control("GET", "faults");
    const { journal } = await control("GET", "journal");
    await control("DELETE", "faults");
    return { place: "the provider", tally: { broken: faults.reduce((sum, { broken_calls: struck }) => sum + struck, 0), calls: journal.at(-1)?.number ?? 0, kinds: Object.fromEntries(faults.map(({ kind, broken_calls: struck }) => [kind, struck])) } };
  };
  return { url, fail, calm, report: expected => control("POST", "report", { expected }), stop: () => child.kill("SIGINT") };
}

/** Fault proxies before the nodes, and before the official facilitator if that is the way. `see` is called with each call of a node. */
export async function startFaultProxies({ seed, way, chains, host, see }) {
  const proxies = [];
  const opened = [];
  const before = async options => {
    const made = await startProxy({ seed, host, ...options });
    proxies.push(made);
    return made.url;
  };
  const rpc = {};
  for (const { id, url } of chains) rpc[NETWORKS[id]] = await before({ place: `the node of ${NETWORKS[id]}`, target: url, kinds: NODE, phase: () => (way === "settler" ? 80 : 25), see });
  let facilitator;
  if (way === "facilitator") {
    const carrier = await startFacilitator(chains);
    opened.push(carrier);
    facilitator = await before({ place: "the facilitator", target: carrier.url, kinds: FACILITATOR, phase: path => (path === "/supported" ? 1 : 15) });
  }
  return { proxies, rpc, facilitator, calm: () => proxies.forEach(proxy => proxy.calm()), stop: () => [...proxies, ...opened].forEach(one => one.stop()) };
}

/** Eight accounts with USDC on every chain, enough for so many orders each. */
export async function createPayers(chains, orders) {
  const payers = Array.from({ length: 8 }, (_, number) => account(2 + number));
  const give = async (chain, payer) => {
    await chain.fund(payer.address, BigInt(orders) * 4n * DOLLARS);
    await chain.allow(payer);
  };
  await Promise.all(chains.map(async chain => {
    for (const payer of payers) await give(chain, payer);
  }));
  return payers;
}

/** The aim is a third of all calls; with few calls it may be less. */
export function checkFaultRate(proxies, faults) {
  const [broken, calls] = proxies.reduce(([some, all], { tally }) => [some + tally.broken, all + tally.calls], [0, 0]);
  if (broken < 0.2 * calls) faults.push(`too few faults: ${broken} of ${calls} calls failed`);
}

/** Prints how often payers got each answer, and how many calls of each server failed. */
export function printTallies(wishes, servers, line) {
  const counts = {};
  for (const { status, code } of wishes.flatMap(({ said }) => said)) {
    const name = status ? `${status} ${code}` : "no answer";
    counts[name] = (counts[name] ?? 0) + 1;
  }
  for (const [name, count] of Object.entries(counts).sort(([, one], [, other]) => other - one)) line(String(count).padStart(6), name);
  for (const { place, tally } of servers) line(`${place}: ${tally.broken} of ${tally.calls} calls failed`, JSON.stringify(tally.kinds));
}
