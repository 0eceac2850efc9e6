// The official clients, and credentials that they sign without sending.
import { spawn } from "node:child_process";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { x402Client, x402HTTPClient } from "@x402/fetch";
import { Receipt } from "mppx";
import { Mppx } from "mppx/client";
import { assets } from "mppx/evm";
import { evm } from "mppx/evm/client";
import { terms } from "../x402/buyer.mjs";

export const ENDPOINT = "/api/mpp/postcards";
export const PRICE = 3_500_000n;

/** The arguments of a fetch that orders a card. */
export const post = (url, body, headers = {}) => [
  `${url}${ENDPOINT}`,
  { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) },
];
export const ask = (url, body, headers) => fetch(...post(url, body, headers));

/** The official client for TypeScript; `through` is the fetch that it sends with. */
export const mppx = (account, through = fetch) =>
  Mppx.create({ methods: [evm.charge({ account, currencies: [assets.base.USDC], maxAmount: "3.5" })], polyfill: false, fetch: through });

/** The official client for Python, in its own process. */
export function pympp(url, key, body) {
  const child = spawn(process.env.PYTHON, [new URL("pay.py", import.meta.url).pathname, `${url}${ENDPOINT}`, key], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(body));
  let said = "";
  child.stdout.on("data", text => (said += text));
  return new Promise((resolve, reject) => child.once("close", code => (code === 0 ? resolve(JSON.parse(said)) : reject(new Error(`pympp ended with ${code}: ${said}`)))));
}

/** A value for Authorization, signed by mppx and not sent. */
export const credential = (account, challenged) => mppx(account).createCredential(challenged.clone());

/** A value for Payment-Signature, signed by the official x402 client for PAYMENT-REQUIRED. */
export async function exact(network, account, challenged) {
  const client = new x402Client().register(network, new ExactEvmScheme(account));
  client.setSpendControls({ maxAmountPerPayment: "$3.50" });
  const http = new x402HTTPClient(client);
  return http.encodePaymentSignatureHeader(await http.createPaymentPayload(terms(challenged)))["PAYMENT-SIGNATURE"];
}

/** The parts of an answer that tests compare. */
export async function heard(response) {
  const said = await response.json();
  const kind = said.type?.replace("https://paymentauth.org/problems/", "");
  return { status: response.status, kind, receipt: response.headers.get("payment-receipt"), challenge: response.headers.get("www-authenticate"), said };
}

export const receipt = text => Receipt.deserialize(text);
