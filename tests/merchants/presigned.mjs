// Sends pre-signed transactions to a node, and measures how fast it accepts and mines them.
//
//   node presigned.mjs NODE KEY COUNT BATCH
//
// Each is a transfer of one unit of USDC, in the order of nonces, BATCH in one HTTP request.
// Prints how many are in blocks and the seconds it took, up to the receipt of the last one.
import { createPublicClient, encodeFunctionData, http, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const [url, key, count, batch] = process.argv.slice(2);
const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const account = privateKeyToAccount(key);
const chain = createPublicClient({ transport: http(url), cacheTime: 0 });

const first = await chain.getTransactionCount({ address: account.address });
const { maxFeePerGas, maxPriorityFeePerGas } = await chain.estimateFeesPerGas();
const data = encodeFunctionData({ abi: parseAbi(["function transfer(address,uint256)"]), args: [USDC, 1n] });
const terms = { chainId: await chain.getChainId(), type: "eip1559", to: USDC, data, gas: 100_000n, maxFeePerGas: 4n * maxFeePerGas, maxPriorityFeePerGas };
const signed = [];
for (let nonce = first; nonce < first + Number(count); nonce += 1) signed.push(await account.signTransaction({ ...terms, nonce }));

async function send(raws) {
  const members = raws.map((raw, id) => ({ jsonrpc: "2.0", id, method: "eth_sendRawTransaction", params: [raw] }));
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(members) });
  const wrong = (await response.json()).find(({ error }) => error);
  if (wrong) throw new Error(JSON.stringify(wrong));
}

const begun = performance.now();
for (let from = 0; from < signed.length; from += Number(batch)) await send(signed.slice(from, from + Number(batch)));
while ((await chain.getTransactionCount({ address: account.address })) < first + signed.length);
console.log(signed.length, ((performance.now() - begun) / 1_000).toFixed(3));
