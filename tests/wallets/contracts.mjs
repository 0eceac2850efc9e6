// The published wallet contracts, deployed from the bytecode in their packages.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { encodeFunctionData, zeroAddress } from "viem";
import { who } from "../x402/chains.mjs";

const require = createRequire(import.meta.url);
const SAFE = "@safe-global/safe-contracts";
const SAFE_4337 = "@safe-global/safe-4337";
const ACCOUNTS = "@account-abstraction/contracts";

const read = (packageName, path) => JSON.parse(readFileSync(require.resolve(`${packageName}/package.json`).replace("package.json", path), "utf8"));
const ofHardhat = (packageName, source) => read(packageName, `build/artifacts/contracts/${source}.sol/${source.split("/").at(-1)}.json`);

/** One contract, as a transaction of an account with gas. */
async function deploy(chain, { abi, bytecode }, args = []) {
  const address = await chain.deploy(who.minter, abi, bytecode, args);
  return { address, abi };
}

export async function deployContracts(chain) {
  const entryPoint = await deploy(chain, read(ACCOUNTS, "artifacts/EntryPoint.json"));
  return {
    entryPoint,
    safe: await deploy(chain, ofHardhat(SAFE, "Safe")),
    safeFactory: await deploy(chain, ofHardhat(SAFE, "proxies/SafeProxyFactory")),
    safeHandler: await deploy(chain, ofHardhat(SAFE, "handler/CompatibilityFallbackHandler")),
    safeModuleSetup: await deploy(chain, ofHardhat(SAFE_4337, "SafeModuleSetup")),
    safe4337: await deploy(chain, ofHardhat(SAFE_4337, "Safe4337Module"), [entryPoint.address]),
    simpleAccountFactory: await deploy(chain, read(ACCOUNTS, "artifacts/SimpleAccountFactory.json"), [entryPoint.address]),
    simpleAccountAbi: read(ACCOUNTS, "artifacts/SimpleAccount.json").abi,
    simple7702: await deploy(chain, read(ACCOUNTS, "artifacts/Simple7702Account.json")),
  };
}

/** The factory's call that deploys a Safe with these owners; of the kind `erc4337` it has Safe's module for ERC-4337. */
export function safeDeployment({ safe, safeFactory, safeHandler, safeModuleSetup, safe4337 }, owners, threshold, kind, salt) {
  const is4337 = kind === "erc4337";
  const enable = { abi: safeModuleSetup.abi, functionName: "enableModules", args: [[safe4337.address]] };
  const [to, data, handler] = is4337 ? [safeModuleSetup.address, encodeFunctionData(enable), safe4337.address] : [zeroAddress, "0x", safeHandler.address];
  const args = [owners, threshold, to, data, handler, zeroAddress, 0n, zeroAddress];
  const initializer = encodeFunctionData({ abi: safe.abi, functionName: "setup", args });
  return { address: safeFactory.address, abi: safeFactory.abi, functionName: "createProxyWithNonce", args: [safe.address, initializer, salt] };
}
