// The official @x402/express merchant with the three offers of our own door, settling by itself on the sandbox's chains.
//
//   node express.mjs PORT SANDBOX
import express from "express";
import { x402Facilitator } from "@x402/core/facilitator";
import { x402ResourceServer } from "@x402/core/server";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { UptoEvmScheme as Carrier } from "@x402/evm/upto/facilitator";
import { UptoEvmScheme } from "@x402/evm/upto/server";
import { paymentMiddleware, setSettlementOverrides } from "@x402/express";
import { createWalletClient, defineChain, http, publicActions } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

const [port, sandbox] = process.argv.slice(2);
const CHAINS = [8453, 137, 42161];
const PAYEE = "0x06c05fB3449193F815E3dd1Fb1a3fB148F8AD6c4";
/** What a card costs in the sandbox: 172 cents of the provider and 21 %. */
const CHARGE = String(172 * 12_100);

const account = privateKeyToAccount(generatePrivateKey());
const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };

async function signer(id) {
  const url = `${sandbox}/${id}`;
  const body = JSON.stringify({ native: "10000000000000000000000" });
  await fetch(`${sandbox}/__sandbox/${id}/accounts/${account.address}`, { method: "POST", body });
  const chain = defineChain({ id, name: `chain ${id}`, nativeCurrency, rpcUrls: { default: { http: [url] } } });
  const client = createWalletClient({ account, chain, transport: http(url), pollingInterval: 20, cacheTime: 0 }).extend(publicActions);
  return toFacilitatorEvmSigner({
    address: account.address,
    readContract: request => client.readContract({ ...request, args: request.args ?? [], account }),
    verifyTypedData: request => client.verifyTypedData(request),
    writeContract: request => client.writeContract({ ...request, args: request.args ?? [] }),
    sendTransaction: request => client.sendTransaction(request),
    waitForTransactionReceipt: request => client.waitForTransactionReceipt(request),
    getCode: request => client.getCode(request),
  });
}

const facilitator = new x402Facilitator();
for (const id of CHAINS) facilitator.register(`eip155:${id}`, new Carrier(await signer(id)));
const inHouse = {
  verify: (payload, requirements) => facilitator.verify(payload, requirements),
  settle: (payload, requirements) => facilitator.settle(payload, requirements),
  getSupported: async () => facilitator.getSupported(),
};

const server = new x402ResourceServer(inHouse);
for (const id of CHAINS) server.register(`eip155:${id}`, new UptoEvmScheme());
const accepts = CHAINS.map(id => ({ scheme: "upto", price: "$3.50", network: `eip155:${id}`, payTo: PAYEE, maxTimeoutSeconds: 300 }));

const application = express();
application.disable("x-powered-by").disable("etag");
application.use(express.json());
application.use(paymentMiddleware({ "POST /api/x402/postcards": { accepts, description: "One postcard", mimeType: "application/json" } }, server));
application.post("/api/x402/postcards", (_, response) => {
  setSettlementOverrides(response, { amount: CHARGE });
  response.json({ id: "sent" });
});
application.listen(Number(port), "127.0.0.1");
