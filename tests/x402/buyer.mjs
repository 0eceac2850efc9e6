// Test cards, and the official client with its spend limit raised.
import { x402Client, x402HTTPClient } from "@x402/fetch";
import { UptoEvmScheme } from "@x402/evm/upto/client";

export const ENDPOINT = "/api/x402/postcards";
export const UNITS_IN_A_CENT = 12_100n;
export const DOLLARS = 1_000_000n;
export const CEILING = 3_500_000n;

const RECIPIENTS = {
  GB: { name: "Ada Lovelace", address: "12 St James's Square", city: "London", province: "London", postal_code: "SW1Y 4JH", country: "GB" },
  US: { name: "Grace Hopper", address: "1 Harbour Street", city: "Arlington", province: "VA", postal_code: "22201", country: "US" },
};

let cards = 0;
/** All cards differ, because the same card twice is one order. */
export function card(country = "GB") {
  cards += 1;
  return { front_image_url: "https://images.example.org/sea.jpg", message: `The sea says hello, number ${cards}.`, recipient: RECIPIENTS[country] };
}

/** The arguments of a fetch that orders a card. */
export const post = (url, body, headers = {}, more = {}) => [
  `${url}${ENDPOINT}`,
  { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body), ...more },
];

/** The official client on one network; with a signer that can read the chain it signs allowances too. */
export function wallet(network, signer) {
  const client = new x402Client().register(network, new UptoEvmScheme(signer));
  client.setSpendControls({ maxAmountPerPayment: "$3.50" });
  return client;
}

/** The decoded PAYMENT-REQUIRED header, or null. */
export const terms = response => JSON.parse(Buffer.from(response.headers.get("payment-required") ?? "bnVsbA==", "base64").toString());

/** One credential for these terms, signed by the official client and not sent yet. */
export async function sign(client, required) {
  const http = new x402HTTPClient(client);
  const payload = await http.createPaymentPayload(required);
  const { nonce } = payload.payload.permit2Authorization;
  return { header: http.encodePaymentSignatureHeader(payload)["PAYMENT-SIGNATURE"], nonce: BigInt(nonce) };
}
