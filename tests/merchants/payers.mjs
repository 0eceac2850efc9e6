// Signs payments for many different cards in advance, with the official clients.
//
//   node payers.mjs RAIL ENDPOINT KEY COUNT FILE
//
// Each line of the file is a header's name, its value, the body that it pays for, and the order's id if the challenge has one.
import { writeFileSync } from "node:fs";
import { x402Client, x402HTTPClient } from "@x402/fetch";
import { UptoEvmScheme } from "@x402/evm/upto/client";
import { Mppx } from "mppx/client";
import { charge } from "mppx/evm/client";
import { privateKeyToAccount } from "viem/accounts";

const [rail, endpoint, key, count, file] = process.argv.slice(2);
const AT_ONCE = 16;
const account = privateKeyToAccount(key);

function x402() {
  const client = new x402Client().register("eip155:8453", new UptoEvmScheme(account));
  client.setSpendControls({ maxAmountPerPayment: "$3.50" });
  const wallet = new x402HTTPClient(client);
  return async response => {
    const payload = await wallet.createPaymentPayload(wallet.getPaymentRequiredResponse(name => response.headers.get(name), undefined));
    return ["payment-signature", wallet.encodePaymentSignatureHeader(payload)["PAYMENT-SIGNATURE"]];
  };
}

function mpp() {
  const client = Mppx.create({ methods: [charge({ account, authorization: { name: "USD Coin", version: "2" }, decimals: 6, maxAtomicAmount: "3500000" })], polyfill: false });
  return async response => ["authorization", await client.createCredential(response)];
}

const sign = { x402, mpp }[rail]();
const recipient = { name: "Ada Lovelace", address: "12 St James Square", city: "London", province: "London", postal_code: "SW1Y 4JH", country: "GB" };
const card = number => JSON.stringify({ front_image_url: "https://images.example.org/sea.jpg", message: `The sea says hello, number ${number} of ${process.pid}.`, recipient });

async function signed(number) {
  const body = card(number);
  const response = await fetch(endpoint, { method: "POST", headers: { "content-type": "application/json" }, body });
  if (response.status !== 402) throw new Error(`${response.status} ${await response.text()}`);
  const header = await sign(response.clone());
  const { public_order_id: order = "" } = await response.json().catch(() => ({}));
  return `${[...header, body, order].join("\t")}\n`;
}

const lines = [];
for (let number = 0; number < Number(count); number += AT_ONCE) {
  const many = Math.min(AT_ONCE, Number(count) - number);
  lines.push(...(await Promise.all(Array.from({ length: many }, (_, place) => signed(number + place)))));
}
writeFileSync(file, lines.join(""));
