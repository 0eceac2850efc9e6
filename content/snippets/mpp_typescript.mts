// npm install mppx@0.11.0 viem@2.57.1
// PAYER_KEY=0x… node mpp_typescript.mts
import { readFile } from "node:fs/promises";
import { Receipt } from "mppx";
import { Mppx } from "mppx/client";
import { assets } from "mppx/evm";
import { evm } from "mppx/evm/client";
import { privateKeyToAccount } from "viem/accounts";

const baseUrl = process.env.BASE_URL ?? "{{ base_url }}";
const account = privateKeyToAccount(process.env.PAYER_KEY as `0x${string}`);

// Signs for nothing but USDC on Base, and for no more than this.
const method = evm.charge({ account, currencies: [assets.base.USDC], maxAmount: "3.50" });
const client = Mppx.create({ methods: [method], polyfill: false });

const answer = await client.fetch(`${baseUrl}/api/mpp/postcards`, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: await readFile("card.json", "utf8"),
});
console.log(answer.status, await answer.json());
if (answer.headers.has("Payment-Receipt")) console.log(Receipt.fromResponse(answer));
if (!answer.ok) process.exitCode = 1;
