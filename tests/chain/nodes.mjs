// The two nodes that are compared: anvil with real or recompiled contracts, and the sandbox.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import { encodeAbiParameters, encodeFunctionData, keccak256, maxUint256, pad, parseAbi, parseAbiParameters, toHex } from "viem";
import { mnemonicToAccount } from "viem/accounts";

export const NETWORKS = {
  base: { chain: 8453, usdc: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" },
  polygon: { chain: 137, usdc: "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359" },
  arbitrum: { chain: 42161, usdc: "0xaf88d065e77c8cC2239327C5EDb3A432268e5831" },
};
export const { chain: CHAIN, usdc: USDC } = NETWORKS.base;
export const PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3";
export const PROXY = "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002";

/** The mnemonic that every development node starts with. It never holds value. */
const MNEMONIC = "test test test test test test test test test test test junk";
const account = addressIndex => mnemonicToAccount(MNEMONIC, { addressIndex });
export const who = { minter: account(0), facilitator: account(1), payer: account(2), newcomer: account(3), payee: account(4), poor: account(5) };

export async function rpc(url, method, params = []) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  return response.json();
}

/** Signs with the account's next nonce and sends; returns the hash, or the error. */
export async function handIn(url, from, to, data, changes = {}) {
  const count = await rpc(url, "eth_getTransactionCount", [from.address, "latest"]);
  const request = { type: "eip1559", chainId: CHAIN, nonce: Number(count.result), gas: 400_000n, to, data, ...fees, ...changes };
  const { result: hash, error } = await rpc(url, "eth_sendRawTransaction", [await from.signTransaction(request)]);
  return { hash, error };
}

/** The same, and waits for the receipt. */
export async function send(url, from, to, data, changes = {}) {
  const { hash, error } = await handIn(url, from, to, data, changes);
  return error ? { error } : { hash, receipt: await mined(url, hash) };
}

/** A real node takes a moment from the hash to the receipt. */
async function mined(url, hash) {
  for (let look = 0; look < 200; look += 1) {
    const { result: receipt } = await rpc(url, "eth_getTransactionReceipt", [hash]);
    if (receipt) return receipt;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  throw new Error(`${url} has not mined ${hash} in ten seconds`);
}
const fees = { maxFeePerGas: 5_000_000_000n, maxPriorityFeePerGas: 1_000_000n };

async function must(url, method, params) {
  const { result, error } = await rpc(url, method, params);
  if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}

const require = createRequire(import.meta.url);

const compiled = new Map();

/** The runtime code of a contract in contracts/. */
export function compile(name) {
  if (!compiled.has(name)) compiled.set(name, compileAnew(name));
  return compiled.get(name);
}

function compileAnew(name) {
  const content = readFileSync(new URL(`contracts/${name}.sol`, import.meta.url), "utf8");
  const settings = { optimizer: { enabled: true, runs: 200 }, evmVersion: "cancun", outputSelection: { "*": { "*": ["evm.deployedBytecode.object"] } } };
  const input = { language: "Solidity", sources: { [name]: { content } }, settings };
  const output = JSON.parse(require("solc").compile(JSON.stringify(input)));
  const wrong = (output.errors ?? []).filter(error => error.severity === "error");
  if (wrong.length) throw new Error(wrong.map(error => error.formattedMessage).join("\n"));
  return `0x${output.contracts[name][name].evm.deployedBytecode.object}`;
}

/** The runtime code that Uniswap publishes, with the two immutables of a chain filled in. */
export function permit2(chain = CHAIN) {
  const file = require.resolve("@uniswap/v4-periphery/package.json").replace("package.json", "lib/permit2/test/utils/DeployPermit2.sol");
  let code = readFileSync(file, "utf8").match(/hex"([0-9a-fA-F]+)"/)[1];
  const put = (offset, word) => (code = code.slice(0, offset * 2) + word.slice(2) + code.slice(offset * 2 + 64));
  const separator = keccak256(
    encodeAbiParameters(parseAbiParameters("bytes32, bytes32, uint256, address"), [
      keccak256(toHex("EIP712Domain(string name,uint256 chainId,address verifyingContract)")),
      keccak256(toHex("Permit2")),
      BigInt(chain),
      PERMIT2,
    ]),
  );
  put(0x1b47, separator);
  put(0x1b21, pad(toHex(chain), { size: 32 }));
  return `0x${code}`;
}

export const freePort = () =>
  new Promise(resolve => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

export const anvil = () => join(require.resolve("@foundry-rs/anvil-linux-amd64/package.json"), "../bin/anvil");

export async function startAnvil({ chain, usdc } = NETWORKS.base) {
  const port = await freePort();
  const child = spawn(anvil(), ["--host", "127.0.0.1", "--port", port, "--chain-id", chain, "--silent"], { stdio: ["ignore", "inherit", "inherit"] });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    try {
      await must(url, "eth_chainId");
      break;
    } catch (error) {
      if (tries > 200) throw error;
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  }
  for (const [place, code] of [[PERMIT2, permit2(chain)], [usdc, compile("TestUSDC")], [PROXY, compile("UptoProxyDouble")]]) {
    await must(url, "anvil_setCode", [place, code]);
  }
  const abi = parseAbi(["function mint(address,uint256)", "function setPaused(bool)", "function setBlacklisted(address,bool)"]);
  const told = (functionName, ...args) => send(url, who.minter, usdc, encodeFunctionData({ abi, functionName, args }), { chainId: chain });
  return {
    name: "anvil",
    url,
    fund: (address, amount) => told("mint", address, amount),
    pause: paused => told("setPaused", paused),
    blacklist: (address, listed) => told("setBlacklisted", address, listed),
    stop: () => child.kill("SIGTERM"),
  };
}

export async function startSandbox(binary) {
  const child = spawn(binary, [], { stdio: ["pipe", "pipe", "inherit"] });
  const origin = await new Promise((resolve, reject) => {
    child.stdout.once("data", line => resolve(String(line).trim()));
    child.once("exit", code => reject(new Error(`the sandbox ended with ${code}`)));
  });
  const tell = async (path, body) => {
    const response = await fetch(`${origin}/__sandbox/${CHAIN}/${path}`, { method: "POST", body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  };
  const gas = "10000000000000000000000";
  for (const { address } of Object.values(who)) await tell(`accounts/${address}`, { native: gas });
  return {
    name: "sandbox",
    url: `${origin}/${CHAIN}`,
    fund: (address, amount) => tell(`accounts/${address}`, { usdc: String(amount) }),
    pause: paused => tell("settings", { token: paused ? "paused" : "running" }),
    blacklist: (address, listed) => tell(`accounts/${address}`, { blacklisted: listed ? "yes" : "no" }),
    stop: () => child.stdin.end(),
  };
}

/** 10 USDC for the payers, and an allowance for one of them. */
export async function prepare(node) {
  await node.fund(who.payer.address, 10_000_000n);
  await node.fund(who.newcomer.address, 10_000_000n);
  const abi = parseAbi(["function approve(address,uint256)"]);
  await send(node.url, who.payer, USDC, encodeFunctionData({ abi, functionName: "approve", args: [PERMIT2, maxUint256] }));
}
