// Anvil nodes with the contracts that an `upto` payment needs, as Base, Polygon and Arbitrum One.
import { spawn } from "node:child_process";
import { createPublicClient, createTestClient, createWalletClient, defineChain, http, maxUint256, parseAbi } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { PERMIT2, PROXY, anvil, compile, freePort, permit2 } from "../chain/nodes.mjs";

export const USDC = {
  8453: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  137: "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359",
  42161: "0xaf88d065e77c8cC2239327C5EDb3A432268e5831",
};
const MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11";

/** The mnemonic that every development node starts with. It never holds value. */
const MNEMONIC = "test test test test test test test test test test test junk";
/** One of the ten accounts with gas on every chain. */
export const account = addressIndex => mnemonicToAccount(MNEMONIC, { addressIndex });
export const who = { minter: account(0), facilitator: account(1), payer: account(2), newcomer: account(3), payee: account(4), pauper: account(5) };

export const usdcAbi = parseAbi([
  "function balanceOf(address) view returns (uint256)",
  "function approve(address,uint256) returns (bool)",
  "function mint(address,uint256)",
]);
export const permit2Abi = parseAbi(["function invalidateUnorderedNonces(uint256,uint256)"]);

/** A block of this node is final two blocks later. */
const FINALITY = ["--slots-in-an-epoch", "1"];

export async function startChain(id) {
  const port = await freePort();
  const child = spawn(anvil(), ["--host", "127.0.0.1", "--port", port, "--chain-id", id, "--silent", ...FINALITY], { stdio: ["ignore", "inherit", "inherit"] });
  const url = `http://127.0.0.1:${port}`;
  const chain = defineChain({ id, name: `chain ${id}`, nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 }, rpcUrls: { default: { http: [url] } } });
  const common = { chain, transport: http(url), pollingInterval: 50, cacheTime: 0 };
  const reader = createPublicClient(common);
  const hand = createTestClient({ ...common, mode: "anvil" });
  for (let tries = 0; ; tries++) {
    try {
      await reader.getChainId();
      break;
    } catch (error) {
      if (tries > 400) throw error;
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  }
  const wallet = account => createWalletClient({ ...common, account });
  const mined = async hash => {
    const { status } = await reader.waitForTransactionReceipt({ hash });
    if (status !== "success") throw new Error(`${hash} was reverted`);
  };
  const send = async (account, transaction) => mined(await wallet(account).sendTransaction(transaction));
  const write = async (account, address, abi, functionName, args) => mined(await wallet(account).writeContract({ address, abi, functionName, args }));
  const { multicall3Bytecode } = await import(new URL("constants/contracts.js", import.meta.resolve("viem")).href);
  const hash = await wallet(who.minter).deployContract({ abi: [], bytecode: multicall3Bytecode });
  const { contractAddress } = await reader.waitForTransactionReceipt({ hash });
  const codes = [[PERMIT2, permit2(id)], [USDC[id], compile("TestUSDC")], [PROXY, compile("UptoProxyDouble")], [MULTICALL3, await reader.getCode({ address: contractAddress })]];
  for (const [address, bytecode] of codes) await hand.setCode({ address, bytecode });
  const fund = (address, amount) => write(who.minter, USDC[id], usdcAbi, "mint", [address, amount]);
  const allow = account => write(account, USDC[id], usdcAbi, "approve", [PERMIT2, maxUint256]);
  const holds = address => reader.readContract({ address: USDC[id], abi: usdcAbi, functionName: "balanceOf", args: [address] });
  for (const role of ["payer", "newcomer"]) await fund(who[role].address, 100_000_000n);
  await allow(who.payer);
  return {
    id,
    network: `eip155:${id}`,
    url,
    chain,
    reader,
    hand,
    send,
    /** Mints USDC for an address. */
    fund,
    /** Approves Permit2 for this account. */
    allow,
    holds,
    approve: role => allow(who[role]),
    balance: role => holds(who[role].address),
    burn: (role, nonce) => write(who[role], PERMIT2, permit2Abi, "invalidateUnorderedNonces", [nonce >> 8n, 1n << (nonce & 255n)]),
    stop: () => child.kill("SIGTERM"),
  };
}
