// Starts what the test needs on free loopback ports, and stops it.
import { spawn } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { createServer as listen } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestClient, defineChain, http, publicActions, walletActions } from "viem";
import { mnemonicToAccount } from "viem/accounts";

const require = createRequire(import.meta.url);
const PATIENCE_MILLISECONDS = 30_000;
const folder = mkdtempSync(join(tmpdir(), "pennyblack-ens-"));
const endings = [];

/** Runs a test and its clean-up. */
export async function main(test) {
  let code = 0;
  try {
    await test();
  } catch (error) {
    code = 1;
    console.error(error);
  }
  for (const end of endings.reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
  process.exit(code);
}

async function freePort() {
  const server = listen().listen(0, "127.0.0.1");
  await new Promise(done => server.once("listening", done));
  const { port } = server.address();
  await new Promise(done => server.close(done));
  return port;
}

async function until(what, ask) {
  const end = Date.now() + PATIENCE_MILLISECONDS;
  while (Date.now() < end) {
    const answer = await ask().catch(() => undefined);
    if (answer) return answer;
    await new Promise(again => setTimeout(again, 50));
  }
  throw new Error(`timed out waiting for ${what}`);
}

function run(program, words, options) {
  const child = spawn(program, words, options);
  const ended = new Promise(done => child.once("exit", done));
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  endings.push(stop);
  return stop;
}

const account = mnemonicToAccount("test test test test test test test test test test test junk");

export async function startNode() {
  const url = `http://127.0.0.1:${await freePort()}`;
  const machine = process.arch === "arm64" ? "arm64" : "amd64";
  const program = require.resolve(`@foundry-rs/anvil-linux-${machine}/bin/anvil`);
  run(program, ["--chain-id", "1", "--port", new URL(url).port, "--silent"], { stdio: "inherit" });
  const chain = defineChain({
    id: 1,
    name: "names",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  });
  const client = createTestClient({ account, chain, mode: "anvil", transport: http(url), pollingInterval: 50 });
  const node = client.extend(publicActions).extend(walletActions);
  await until("anvil", () => node.getChainId());
  return { node, url };
}

export function compile() {
  const solc = require("solc");
  const source = readFileSync(new URL("contracts/Names.sol", import.meta.url), "utf8");
  const input = {
    language: "Solidity",
    sources: { "Names.sol": { content: source } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      viaIR: true,
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
    },
  };
  const { errors = [], contracts } = JSON.parse(solc.compile(JSON.stringify(input)));
  const fatal = errors.filter(error => error.severity === "error");
  if (fatal.length) throw new Error(fatal.map(error => error.formattedMessage).join("\n"));
  return contracts["Names.sol"];
}

/** A server that calls `answer` with every body; it returns a status and a body. */
export async function serve(answer) {
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const [status, body, headers = {}] = await answer(request, Buffer.concat(pieces).toString());
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  }).listen(0, "127.0.0.1");
  await new Promise(done => server.once("listening", done));
  endings.push(() => new Promise(done => (server.closeAllConnections(), server.close(done))));
  return `http://127.0.0.1:${server.address().port}`;
}

/** The service with these settings of [names]. Without a provider, because real names with the emulated provider are refused. */
export async function startService(binary, parent, names) {
  const home = mkdtempSync(join(folder, "service-"));
  const port = await freePort();
  const lines = Object.entries(names).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  writeFileSync(join(home, "pennyblack.toml"), [`[sellers]`, `parent = "${parent}"`, `[provider]`, `kind = "none"`, `[names]`, ...lines].join("\n"));
  const log = openSync(join(home, "log"), "w");
  const stop = run(binary, [], {
    cwd: home,
    env: { PENNYBLACK_LISTEN: `127.0.0.1:${port}` },
    stdio: ["ignore", log, log],
  });
  const url = `http://127.0.0.1:${port}`;
  await until("the service", () => fetch(`${url}/readyz`).then(answer => answer.ok)).catch(error => {
    throw new Error(`${error.message}: ${readFileSync(join(home, "log"), "utf8")}`);
  });
  const resolve = async name => {
    const answer = await fetch(`${url}/api/x402/resolve/${encodeURIComponent(name)}`);
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  };
  return { resolve, stop };
}
