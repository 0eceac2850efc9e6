// Everything that a measurement runs on: an anvil node, the provider emulator and processes of the real service.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { freePort } from "../chain/nodes.mjs";
import { startChain, who } from "../x402/chains.mjs";
import { startProvider } from "../x402/fault_stack.mjs";
import { launch, premises } from "../x402/service.mjs";
import { limitedGroup } from "./processor.mjs";

const BASE = 8453;
/** More provider calls than are made here, so that the provider's rate limit is never reached. */
const RATE_TIMES = 10_000;
/** A thousand payments in full blocks of a development node cost more than the default allows in an hour. */
const GAS_BUDGET_GWEI = 100_000_000_000;
/** Cards that the provider emulator remembers, unless a test needs more. */
const KEPT_CARDS = 5_000;

const running = new Set();

/** Remembers how to stop something, in case the test ends before it is stopped. */
function remember(stop) {
  running.add(stop);
  return () => {
    running.delete(stop);
    return stop();
  };
}

/** Stops what still runs, when the test ends early. */
export async function stopEverything() {
  for (const stop of [...running].reverse()) {
    running.delete(stop);
    await Promise.resolve().then(stop).catch(() => {});
  }
}

/** A new database in the PostgreSQL server that DATABASE_URL names. */
function createDatabase() {
  const server = process.env.DATABASE_URL;
  const name = `settlement_${randomBytes(6).toString("hex")}`;
  const execute = statement => execFileSync("psql", [server, "--quiet", "--no-psqlrc", "--command", statement], { stdio: ["ignore", "ignore", "inherit"] });
  execute(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, stop: remember(() => execute(`DROP DATABASE ${name} WITH (FORCE)`)) };
}

/** One process of the service that keeps its port and its folder when it is killed and started again. */
async function startProcess(binary, settings, environment, { isStarted, share }) {
  const port = await freePort();
  const group = share ? limitedGroup(`pennyblack-${port}`, share) : null;
  const place = premises({ ...settings, port });
  Object.assign(place.environment, environment);
  const log = join(place.folder, "log");
  /** `rehearse` writes further settings of the section `sandbox`, for the next start. */
  const service = { url: `http://127.0.0.1:${port}`, alive: false, folder: place.folder, rehearse: place.rehearse };
  let current;
  /** Starts a process. The promise is fulfilled when it listens, and never if it is killed before. */
  service.launch = () => {
    const launched = launch(binary, place, log);
    current = launched;
    service.pid = launched.pid;
    return launched.opened.then(() => {
      // A start takes longer than this share allows.
      group?.add(launched.pid);
      service.alive = !launched.isKilled;
    });
  };
  service.kill = () => {
    service.alive = false;
    if (current) current.isKilled = true;
    return current?.kill();
  };
  const stop = remember(service.kill);
  if (isStarted) await service.launch();
  /** SIGKILL, and a new process at once. */
  service.restart = async () => {
    await service.kill();
    await service.launch();
  };
  /** SIGTERM, as a service manager sends it, and a new process once the old one has ended. Payers are not told. */
  service.upgrade = async () => {
    const code = await current.stop();
    await service.launch();
    return code;
  };
  service.stop = async () => {
    await stop();
    group?.remove();
    if (!process.env.KEEP) place.remove();
  };
  return service;
}

/**
 * `environment` has further variables of the service, which the caller starts unless `isStarted`. `dialect` is that of the provider, `rateTimes` multiplies its rate limit; `store` is `sqlite` or `postgres`; `between` puts a proxy before the node; `keyFile` is a key file instead of a new key; `keptCards` is how many cards the provider remembers; `limits` are settings of that section; `share` limits each process to this share of a processor. All processes have one settler account,
 * one key and one base URL.
 */
async function startStack({ binary, providerBinary }, { processes = 1, store = "sqlite", between = null, dialect = "lob", rateTimes = RATE_TIMES, keyFile = null, keptCards = KEPT_CARDS, limits = {}, environment: more = {}, isStarted = true, share = null }) {
  const chain = await startChain(BASE);
  chain.stop = remember(chain.stop);
  const proxy = await between?.(chain.url);
  if (proxy) proxy.stop = remember(proxy.stop);
  const provider = await startProvider(providerBinary, keptCards);
  provider.stop = remember(provider.stop);
  const database = store === "postgres" ? createDatabase() : null;
  const settings = {
    kind: "settler",
    rpc: { base: proxy?.url ?? chain.url },
    account: who.facilitator,
    payments: { gas_budget_gwei: [`base=${GAS_BUDGET_GWEI}`] },
    // Lob takes the same order twice as one, so that an interrupted submission can be repeated.
    sandbox: { provider: provider.url, dialect },
    provider: { rate_times: rateTimes },
    limits,
  };
  const keys = keyFile ? { PENNYBLACK_KEYS_FILE: keyFile } : { PENNYBLACK_KEYS: randomBytes(32).toString("hex") };
  const environment = { ...keys, PENNYBLACK_BASE_URL: "http://127.0.0.1:8402", ...more };
  if (database) environment.PENNYBLACK_STORE = database.url;
  const services = [];
  for (let number = 0; number < processes; number += 1) services.push(await startProcess(binary, settings, environment, { isStarted, share }));
  const stop = async () => {
    for (const service of services) await service.stop();
    proxy?.stop();
    provider.stop();
    chain.stop();
    database?.stop();
    if (process.env.KEEP) console.log(`  logs: ${services.map(({ folder }) => folder).join(", ")}`);
  };
  return { chain, proxy, provider, services, database, stop };
}

/** Runs something on a stack of its own, and stops the stack afterwards. */
export async function withStack(programs, options, act) {
  const stack = await startStack(programs, options);
  try {
    return await act(stack);
  } finally {
    await stack.stop();
  }
}

/** From now on the node mines a block every so many seconds; 0 mines each transaction at once. */
export async function setBlockTime({ hand }, interval) {
  if (interval > 0) await hand.setIntervalMining({ interval });
  else await hand.setAutomine(true);
}
