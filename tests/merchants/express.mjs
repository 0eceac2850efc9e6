// The official @x402/express merchant with the offer of our endpoint; it settles by itself.
//
//   node express.mjs PORT NODE KEY
//
// The three networks, the text and the extensions are those of our own challenge, each
// declared as its package's documentation says. The node is Base, the only network that can be paid here.
import express from "express";
import { x402Facilitator } from "@x402/core/facilitator";
import { x402ResourceServer } from "@x402/core/server";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { UptoEvmScheme as Carrier } from "@x402/evm/upto/facilitator";
import { UptoEvmScheme } from "@x402/evm/upto/server";
import { paymentMiddleware, setSettlementOverrides } from "@x402/express";
import { EIP2612_GAS_SPONSORING, declareEip2612GasSponsoringExtension } from "@x402/extensions";
import { bazaarResourceServerExtension, declareDiscoveryExtension } from "@x402/extensions/bazaar";
import { PAYMENT_IDENTIFIER, declarePaymentIdentifierExtension, paymentIdentifierResourceServerExtension } from "@x402/extensions/payment-identifier";
import { createWalletClient, defineChain, http, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const [port, url, key] = process.argv.slice(2);
const NETWORKS = ["eip155:8453", "eip155:137", "eip155:42161"];
const PAYEE = "0x06c05fB3449193F815E3dd1Fb1a3fB148F8AD6c4";
/** What a card costs in the sandbox: 172 cents plus 21 %. */
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

const facilitator = new x402Facilitator().register(NETWORKS, new Carrier(signer)).registerExtension(EIP2612_GAS_SPONSORING);
const inHouse = {
  verify: (payload, requirements) => facilitator.verify(payload, requirements),
  settle: (payload, requirements) => facilitator.settle(payload, requirements),
  getSupported: async () => facilitator.getSupported(),
};
const server = new x402ResourceServer(inHouse).registerExtension(bazaarResourceServerExtension).registerExtension(paymentIdentifierResourceServerExtension);
for (const network of NETWORKS) server.register(network, new UptoEvmScheme());

const recipient = { name: "Ada Example", address: "12 Harbour Street", city: "Portland", province: "OR", postal_code: "97201", country: "US" };
const discovery = declareDiscoveryExtension({
  bodyType: "json",
  input: { front_image_url: "https://example.com/harbour.jpg", message: "Wish you were here.", recipient },
  inputSchema: {
    type: "object",
    properties: { front_image_url: { type: "string" }, message: { type: "string" }, recipient: { type: "object", required: Object.keys(recipient) } },
    required: ["front_image_url", "message", "recipient"],
  },
  output: { example: { id: "9f2c1e7ab04d4d6c8a53f0e1d2b7c694", status: "submitted" } },
});
const unpaid = {
  status: "unpaid",
  maximum: "3.50",
  currency: "USDC",
  networks: NETWORKS,
  how_to_pay: "PAYMENT-REQUIRED is base64 JSON. Sign one entry of its accepts with an x402 v2 client and send the identical body again with the result in PAYMENT-SIGNATURE.",
};
const postcard = {
  accepts: NETWORKS.map(network => ({ scheme: "upto", price: "$3.50", network, payTo: PAYEE, maxTimeoutSeconds: 600 })),
  description: "One 4x6 inch postcard, printed and mailed",
  mimeType: "application/json",
  serviceName: "Pennyblack",
  tags: ["postcard", "mail", "print"],
  unpaidResponseBody: () => ({ contentType: "application/json", body: unpaid }),
  extensions: { ...discovery, ...declareEip2612GasSponsoringExtension(), [PAYMENT_IDENTIFIER]: declarePaymentIdentifierExtension() },
};

const application = express();
application.disable("x-powered-by").disable("etag");
application.use(express.json());
application.use(paymentMiddleware({ "POST /api/x402/postcards": postcard }, server));
application.post("/api/x402/postcards", (_, response) => {
  setSettlementOverrides(response, { amount: CHARGE });
  response.json({ id: "sent" });
});
application.listen(Number(port), "127.0.0.1");
