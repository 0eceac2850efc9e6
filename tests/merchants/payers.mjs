// Signs for many different cards ahead of time, with the official client, so that paying for them can be measured.
//
//   node payers.mjs BASE_URL SANDBOX COUNT FILE
//
// Each line of the file is a PAYMENT-SIGNATURE, a tabulator and the body that it pays for.
import { writeFileSync } from "node:fs";
import { x402Client, x402HTTPClient } from "@x402/fetch";
import { UptoEvmScheme } from "@x402/evm/upto/client";
import { privateKeyToAccount } from "viem/accounts";

const [base, sandbox, count, file] = process.argv.slice(2);
const CHAIN = 8453;
const AT_ONCE = 16;
/** More than all payments together may cost. */
const PLENTY = "1000000000000";

const { payer } = await (await fetch(`${sandbox}/__sandbox/faucet`)).json();
const told = await fetch(`${sandbox}/__sandbox/${CHAIN}/accounts/${payer.address}`, { method: "POST", body: JSON.stringify({ usdc: PLENTY }) });
if (!told.ok) throw new Error(await told.text());

const client = new x402Client().register(`eip155:${CHAIN}`, new UptoEvmScheme(privateKeyToAccount(payer.key)));
client.setSpendControls({ maxAmountPerPayment: "$3.50" });
const wallet = new x402HTTPClient(client);

const recipient = { name: "Ada Lovelace", address: "12 St James Square", city: "London", province: "London", postal_code: "SW1Y 4JH", country: "GB" };
const card = number => JSON.stringify({ front_image_url: "https://images.example.org/sea.jpg", message: `The sea says hello, number ${number} of ${process.pid}.`, recipient });

async function signed(number) {
  const body = card(number);
  const response = await fetch(`${base}/api/x402/postcards`, { method: "POST", headers: { "content-type": "application/json" }, body });
  if (response.status !== 402) throw new Error(`${response.status} ${await response.text()}`);
  await response.arrayBuffer();
  const payload = await wallet.createPaymentPayload(wallet.getPaymentRequiredResponse(name => response.headers.get(name), undefined));
  return `${wallet.encodePaymentSignatureHeader(payload)["PAYMENT-SIGNATURE"]}\t${body}\n`;
}

const lines = [];
for (let number = 0; number < Number(count); number += AT_ONCE) {
  const many = Math.min(AT_ONCE, Number(count) - number);
  lines.push(...(await Promise.all(Array.from({ length: many }, (_, place) => signed(number + place)))));
}
writeFileSync(file, lines.join(""));
