// npm install @x402/fetch@2.27.0 @x402/evm@2.27.0 viem@2.57.1
// PAYER_KEY=0x… node x402_typescript.mts
import { readFile } from "node:fs/promises";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { UptoEvmScheme } from "@x402/evm/upto/client";
import { privateKeyToAccount } from "viem/accounts";

const baseUrl = process.env.BASE_URL ?? "{{ base_url }}";
const payer = privateKeyToAccount(process.env.PAYER_KEY as `0x${string}`);

const client = new x402Client().register("eip155:*", new UptoEvmScheme(payer));
// The client refuses everything above one dollar unless it is told otherwise.
client.setSpendControls({ maxAmountPerPayment: "$3.50" });
const fetchAndPay = wrapFetchWithPayment(fetch, client);

const answer = await fetchAndPay(`${baseUrl}/api/x402/postcards`, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: await readFile("card.json", "utf8"),
});
console.log(answer.status, await answer.json());
const settlement = answer.headers.get("PAYMENT-RESPONSE");
if (settlement) console.log(decodePaymentResponseHeader(settlement));
if (!answer.ok) process.exitCode = 1;
