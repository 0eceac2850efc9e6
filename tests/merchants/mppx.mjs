// The official mppx merchant with the offer of our endpoint; it settles by itself.
//
//   node mppx.mjs PORT NODE KEY
//
// Its handlers have no option for the digest of the body, so the digest is bound as metadata,
// which they compare with the credential. They send the x402 header with scheme exact too.
import { createServer } from "node:http";
import { BodyDigest, Expires } from "mppx";
import { evm } from "mppx/evm/server";
import { Mppx, Request as Incoming } from "mppx/server";
import { createWalletClient, defineChain, http, parseAbi, parseSignature, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const [port, url, key] = process.argv.slice(2);
const PAYEE = "0x06c05fB3449193F815E3dd1Fb1a3fB148F8AD6c4";
const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const abi = parseAbi(["function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"]);

const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };
const chain = defineChain({ id: 8453, name: "Base", nativeCurrency, rpcUrls: { default: { http: [url] } } });
const client = createWalletClient({ account: privateKeyToAccount(key), chain, transport: http(url), pollingInterval: 20, cacheTime: 0 }).extend(publicActions);

async function settle({ payload }) {
  const { r, s, v } = parseSignature(payload.signature);
  const args = [payload.from, payload.to, BigInt(payload.value), BigInt(payload.validAfter), BigInt(payload.validBefore), payload.nonce, Number(v), r, s];
  const { request } = await client.simulateContract({ address: USDC, abi, functionName: "transferWithAuthorization", args });
  const hash = await client.writeContract(request);
  const receipt = await client.waitForTransactionReceipt({ hash });
  if (receipt.status !== "success") throw new Error("the transfer failed");
  return { reference: hash };
}

const authorization = { name: "USD Coin", version: "2" };
const method = evm.charge({ currency: USDC, chainId: 8453, decimals: 6, authorization, recipient: PAYEE, settle, x402: { maxTimeoutSeconds: 600 } });
const merchant = Mppx.create({ methods: [method], realm: "127.0.0.1", secretKey: "a secret of at least thirty-two bytes" });

async function answer(request) {
  const meta = { digest: BodyDigest.compute(await request.text()) };
  const charge = merchant.charge({ amount: "3.5", description: "One 4x6 postcard", expires: Expires.minutes(10), meta });
  const asked = await charge(request);
  return asked.status === 402 ? asked.challenge : asked.withReceipt(Response.json({ id: "sent" }));
}

createServer(Incoming.toNodeListener(answer)).listen(Number(port), "127.0.0.1");
