// The official @x402/express merchant with the offer of our own door on Base, settling by itself.
//
//   node express.mjs PORT NODE KEY
import express from "express";
import { x402Facilitator } from "@x402/core/facilitator";
import { x402ResourceServer } from "@x402/core/server";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { UptoEvmScheme as Carrier } from "@x402/evm/upto/facilitator";
import { UptoEvmScheme } from "@x402/evm/upto/server";
import { paymentMiddleware, setSettlementOverrides } from "@x402/express";
import { createWalletClient, defineChain, http, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const [port, url, key] = process.argv.slice(2);
const BASE = "eip155:8453";
const PAYEE = "0x06c05fB3449193F815E3dd1Fb1a3fB148F8AD6c4";
/** What a card costs in the sandbox: 172 cents of the provider and 21 %. */
const CHARGE = String(172 * 12_100);

const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };
const chain = defineChain({ id: 8453, name: "Base", nativeCurrency, rpcUrls: { default: { http: [url] } } });
const account = privateKeyToAccount(key);
const client = createWalletClient({ account, chain, transport: http(url), pollingInterval: 20, cacheTime: 0 }).extend(publicActions);
const signer = toFacilitatorEvmSigner({
  address: account.address,
  readContract: request => client.readContract({ ...request, args: request.args ?? [], account }),
  verifyTypedData: request => client.verifyTypedData(request),
  writeContract: request => client.writeContract({ ...request, args: request.args ?? [] }),
  sendTransaction: request => client.sendTransaction(request),
  waitForTransactionReceipt: request => client.waitForTransactionReceipt(request),
  getCode: request => client.getCode(request),
});

const facilitator = new x402Facilitator().register(BASE, new Carrier(signer));
const inHouse = {
  verify: (payload, requirements) => facilitator.verify(payload, requirements),
  settle: (payload, requirements) => facilitator.settle(payload, requirements),
  getSupported: async () => facilitator.getSupported(),
};
const server = new x402ResourceServer(inHouse).register(BASE, new UptoEvmScheme());
const accepts = [{ scheme: "upto", price: "$3.50", network: BASE, payTo: PAYEE, maxTimeoutSeconds: 300 }];

const application = express();
application.disable("x-powered-by").disable("etag");
application.use(express.json());
application.use(paymentMiddleware({ "POST /api/x402/postcards": { accepts, description: "One postcard", mimeType: "application/json" } }, server));
application.post("/api/x402/postcards", (_, response) => {
  setSettlementOverrides(response, { amount: CHARGE });
  response.json({ id: "sent" });
});
application.listen(Number(port), "127.0.0.1");
