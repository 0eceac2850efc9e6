// A stub of the service with one order, for tests of the paywall: it serves the page from our templates, and settles
// payments on a chain unless a test prepared another answer.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { encodeFunctionData, parseAbi, parseSignature, recoverTypedDataAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { rpc, send } from "./wallet.mjs";

export const PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3";
export const PROXY = "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002";
export const USDC = {
  8453: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  137: "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359",
  42161: "0xaf88d065e77c8cC2239327C5EDb3A432268e5831",
};
export const MOST = 3_500_000n;
export const CHARGE = 2_117_500n;
export const ORDER = "9f2c1e7ab04d4d6c8a53f0e1d2b7c694";
const ENDPOINT = "/api/x402/postcards";
/** The account that submits payments to the chain. */
export const carrier = privateKeyToAccount(`0x${"c4".repeat(32)}`);

const usdcAbi = parseAbi(["function balanceOf(address) view returns (uint256)", "function allowance(address, address) view returns (uint256)"]);
const proxyAbi = parseAbi([
  "struct TokenPermissions { address token; uint256 amount; }",
  "struct Permit { TokenPermissions permitted; uint256 nonce; uint256 deadline; }",
  "struct Witness { address to; address facilitator; uint256 validAfter; }",
  "struct Permit2612 { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }",
  "function settle(Permit permit, uint256 amount, address owner, Witness witness, bytes signature)",
  "function settleWithPermit(Permit2612 permit2612, Permit permit, uint256 amount, address owner, Witness witness, bytes signature)",
]);
const field = (type, ...names) => names.map((name) => ({ name, type }));
const promiseTypes = {
  PermitWitnessTransferFrom: [...field("TokenPermissions", "permitted"), ...field("address", "spender"), ...field("uint256", "nonce", "deadline"), ...field("Witness", "witness")],
  TokenPermissions: [...field("address", "token"), ...field("uint256", "amount")],
  Witness: [...field("address", "to", "facilitator"), ...field("uint256", "validAfter")],
};

const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64");
const call = async (node, to, functionName, ...args) => BigInt(await rpc(node, "eth_call", [{ to, data: encodeFunctionData({ abi: usdcAbi, functionName, args }) }, "latest"]));
export const balance = (node, chain, account) => call(node, USDC[chain], "balanceOf", account);
export const allowance = (node, chain, account) => call(node, USDC[chain], "allowance", account, PERMIT2);

export function challenge(payee, { sponsored = false } = {}) {
  const extensions = { "payment-identifier": { info: { required: false }, schema: { type: "object" } } };
  if (sponsored) extensions.eip2612GasSponsoring = { info: { description: "The settler submits the permit.", version: "1" }, schema: { type: "object" } };
  return {
    x402Version: 2,
    error: "Payment required",
    resource: { url: `https://pennyblack.example${ENDPOINT}`, description: "One 4x6 physical postcard — “real”", mimeType: "application/json" },
    accepts: [8453, 137, 42161].map((chain) => ({
      scheme: "upto", network: `eip155:${chain}`, amount: String(MOST), asset: USDC[chain], payTo: payee, maxTimeoutSeconds: 600,
      extra: { name: "USD Coin", version: "2", assetTransferMethod: "permit2", facilitatorAddress: carrier.address },
    })),
    extensions,
  };
}

/** The page for an order, rendered by the code and templates of the service. */
export function written(order) {
  const { status, stdout, stderr } = spawnSync(process.env.PAYWALL_WRITER, { input: JSON.stringify(order), encoding: "utf8" });
  if (status !== 0) throw new Error(`the page cannot be rendered: ${stderr}`);
  return stdout;
}

const served = {
  "/assets/style.css": "text/css; charset=utf-8",
  "/assets/wallet.js": "text/javascript; charset=utf-8",
  "/assets/signed_payment.js": "text/javascript; charset=utf-8",
  "/assets/payment_view.js": "text/javascript; charset=utf-8",
  "/assets/paywall.js": "text/javascript; charset=utf-8",
  "/favicon.svg": "image/svg+xml",
};

export class StubService {
  /** Every request with a payment: its header, body, idempotency key and quote. */
  paid = [];
  /** Answers instead of settling, one for each payment: functions of the response. */
  instead = [];
  /** The status of the order. */
  record = { id: ORDER, status: "unpaid" };
  settled = null;

  /** `policy` is the content security policy of the real pages. */
  constructor({ node, policy, payee, body, key = null, sponsored = false, language = "en", quoted = null, quote = null }) {
    Object.assign(this, { node, policy, payee, body, key, language, quoted, quote });
    this.challenge = challenge(payee, { sponsored });
  }

  async open() {
    this.server = createServer((request, response) => this.answer(request, response).catch((error) => {
      this.fault = error;
      response.writeHead(500).end(JSON.stringify({ error: { code: "internal_error", message: String(error.message), retry: "same" } }));
    }));
    await new Promise((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    this.origin = `http://127.0.0.1:${this.server.address().port}`;
    const { body, key, challenge: asked, origin: base_url, language, quoted, quote: quote_id } = this;
    const nodes = Object.fromEntries(Object.keys(USDC).map((chain) => [`eip155:${chain}`, this.node(chain)]));
    this.page = written({ base_url, order: ORDER, most: "3.50", challenge: asked, body, idempotency_key: key, nodes, play: true, language, quoted, quote_id });
    return this;
  }

  close() {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(resolve));
  }

  async answer(request, response) {
    const path = new URL(request.url, this.origin).pathname;
    let body = "";
    for await (const text of request.setEncoding("utf8")) body += text;
    if (served[path]) {
      const file = path.startsWith("/assets/") ? path : `/assets${path}`;
      return response.writeHead(200, { "content-type": served[path] }).end(readFileSync(`content${file}`));
    }
    // Browsers ask for it beside every document without an icon.
    if (path === "/favicon.ico") return response.writeHead(204).end();
    if (path === `/api/x402/orders/${ORDER}`) return this.json(response, 200, this.record);
    if (path !== ENDPOINT || request.method !== "POST") return this.json(response, 404, {});
    const header = request.headers["payment-signature"];
    const { accept = "", "user-agent": agent = "" } = request.headers;
    if (!header) {
      if (!accept.includes("text/html") || !agent.includes("Mozilla")) return this.demand(response, 402, "Payment required");
      const html = { "content-type": "text/html; charset=utf-8", "content-security-policy": this.policy, "cache-control": "no-store" };
      return response.writeHead(402, { ...html, "payment-required": encode(this.challenge) }).end(this.page);
    }
    this.paid.push({ header, body, key: request.headers["idempotency-key"] ?? null, quote: request.headers["quote-id"] ?? null });
    const instead = this.instead.shift();
    if (instead && (await instead(response, this))) return undefined;
    return this.settle(response, header);
  }

  json(response, status, value, headers = {}) {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
    return true;
  }

  demand(response, status, error) {
    return this.json(response, status, {}, { "cache-control": "no-store", "payment-required": encode({ ...this.challenge, error }) });
  }

  /** What is wrong with a credential. */
  async wrongs(header) {
    const wrongs = [];
    const demand = (holds, what) => holds || wrongs.push(what);
    demand(/^[A-Za-z0-9+/]+={0,2}$/.test(header) && header.length % 4 === 0, "not standard padded base64");
    const sent = JSON.parse(Buffer.from(header, "base64").toString("utf8"));
    const { permit2Authorization: promise, signature } = sent.payload;
    const { from, ...message } = promise;
    const [, chain] = sent.accepted.network.split(":");
    demand(sent.x402Version === 2, "x402Version");
    demand(this.challenge.accepts.some((offer) => isDeepStrictEqual(offer, sent.accepted)), "accepted is not an offer");
    demand(isDeepStrictEqual(sent.resource, this.challenge.resource), "resource is not echoed");
    for (const [name, { info, schema }] of Object.entries(this.challenge.extensions)) {
      const echoed = sent.extensions?.[name];
      demand(isDeepStrictEqual({ ...echoed?.info, ...info }, echoed?.info) && isDeepStrictEqual(schema, echoed?.schema), `${name} is not echoed`);
    }
    demand(isDeepStrictEqual(message.permitted, { token: sent.accepted.asset, amount: sent.accepted.amount }), "permitted");
    demand(message.spender === PROXY && message.witness.to === this.payee && message.witness.facilitator === carrier.address, "spender or witness");
    const left = Number(message.deadline) - Date.now() / 1000;
    demand(left > 560 && left <= 600, `deadline in ${left} s`);
    const domain = { name: "Permit2", chainId: Number(chain), verifyingContract: PERMIT2 };
    const signer = await recoverTypedDataAddress({ domain, types: promiseTypes, primaryType: "PermitWitnessTransferFrom", message, signature });
    demand(signer.toLowerCase() === from.toLowerCase(), "signed by another account");
    return { wrongs, sent, chain: Number(chain), from, message, signature };
  }

  async settle(response, header) {
    if (this.settled) return this.json(response, 200, { id: ORDER, status: "submitted" });
    const { wrongs, sent, chain, from, message, signature } = await this.wrongs(header);
    if (wrongs.length > 0) throw new Error(wrongs.join("; "));
    const node = this.node(chain);
    const permit = sent.extensions?.eip2612GasSponsoring?.info;
    const allowed = (await allowance(node, chain, from)) >= MOST;
    if (!allowed && !permit?.signature) return this.demand(response, 412, "permit2_allowance_required");
    const args = [message, CHARGE, from, message.witness, signature];
    const data = allowed
      ? encodeFunctionData({ abi: proxyAbi, functionName: "settle", args })
      : encodeFunctionData({ abi: proxyAbi, functionName: "settleWithPermit", args: [permit2612(permit), ...args] });
    const transaction = await send(node, carrier, PROXY, data);
    const receipt = await rpc(node, "eth_getTransactionReceipt", [transaction]);
    if (Number(receipt?.status) !== 1) throw new Error(`the chain did not settle: ${JSON.stringify(receipt)}`);
    this.settled = { transaction, chain };
    const network = `eip155:${chain}`;
    this.record = {
      id: ORDER, status: "submitted", pricing: { maximum: "3.50", charged: "2.1175", currency: "USDC" }, payment: { network, transaction },
    };
    const told = { success: true, payer: from, transaction, network, amount: String(CHARGE) };
    return this.json(response, 200, { id: ORDER, status: "submitted" }, { "payment-response": encode(told), "cache-control": "private" });
  }
}

function permit2612({ amount, deadline, signature }) {
  const { r, s, yParity } = parseSignature(signature);
  return { value: amount, deadline, r, s, v: 27 + yParity };
}
