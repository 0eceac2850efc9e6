// Payers with funds, orders with credentials that are signed ahead of time, and requests that are repeated until paid.
import { Agent, request } from "node:http";
import { Credential } from "mppx";
import { encodeAbiParameters, keccak256, maxUint256, pad, parseAbiParameters, toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { PERMIT2 } from "../chain/nodes.mjs";
import * as mpp from "../mpp/payer.mjs";
import * as x402 from "../x402/buyer.mjs";
import { USDC } from "../x402/chains.mjs";
import { X402 } from "../x402/payers.mjs";

/** What a card to Great Britain costs on each rail with the emulated Lob. */
export const PRICES = { x402: 185n * x402.UNITS_IN_A_CENT, mpp: mpp.PRICE };
const FUNDS = 1_000n * x402.DOLLARS;
/** Storage slots of the mappings in tests/chain/contracts/TestUSDC.sol. */
const BALANCES_SLOT = 2n;
const ALLOWANCES_SLOT = 3n;
const BATCH = 500;
const SIGN_AT_ONCE = 16;
/** Orders in a row by the same rail: as many as there are processes at most. */
const RAIL_RUN = 4;
/** Longer than the service takes for any paid request. */
const ANSWER_MILLISECONDS = 75_000;
const SEND_TRIES = 5;
const PAUSE_MILLISECONDS = 500;
const NOBODY_LISTENS_MILLISECONDS = 20;
/** Answers in the range of 4xx that do not end an order. */
const REPEATABLE = new Set([408, 409, 425, 429]);

/** The time of day in milliseconds, with fractions. */
const now = () => performance.timeOrigin + performance.now();
const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

/** Calls the node with many members in few requests. */
async function batch(url, calls) {
  for (let from = 0; from < calls.length; from += BATCH) {
    const members = calls.slice(from, from + BATCH).map(([method, params], id) => ({ jsonrpc: "2.0", id, method, params }));
    const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(members) });
    const wrong = (await response.json()).find(({ error }) => error);
    if (wrong) throw new Error(`the node answered ${JSON.stringify(wrong)}`);
  }
}

const mappingSlot = (key, slot) => keccak256(encodeAbiParameters(parseAbiParameters("address, uint256"), [key, BigInt(slot)]));

/** USDC and an allowance for Permit2. */
export async function fund(chain, addresses) {
  const store = (slot, value) => ["anvil_setStorageAt", [USDC[chain.id], slot, pad(toHex(value), { size: 32 })]];
  await batch(chain.url, addresses.flatMap(address => [
    store(mappingSlot(address, BALANCES_SLOT), FUNDS),
    store(mappingSlot(PERMIT2, mappingSlot(address, ALLOWANCES_SLOT)), maxUint256),
  ]));
  // The node copies the state of its last block before it mines the next one. A slot stored in between is not in the copy,
  // and calls for the latest block are answered from it until the next block is complete.
  await batch(chain.url, [["evm_mine", []]]);
  if ((await chain.holds(addresses.at(-1))) !== FUNDS) throw new Error("the slots of TestUSDC have moved");
}

/** Accounts with USDC and an allowance for Permit2, and without gas. */
export async function createAccounts(chain, count) {
  const accounts = Array.from({ length: count }, () => privateKeyToAccount(generatePrivateKey()));
  await fund(chain, accounts.map(({ address }) => address));
  return accounts;
}

/** How each rail is paid; `nonce` is that of the signed authorization, as the token or Permit2 sees it. */
export const RAILS = {
  x402: X402,
  mpp: {
    post: mpp.post,
    endpoint: mpp.ENDPOINT,
    price: () => mpp.PRICE,
    receipt: "payment-receipt",
    async sign(_, account, response) {
      const authorization = await mpp.credential(account, response);
      return { headers: { authorization }, nonce: Credential.deserialize(authorization).payload.nonce };
    },
  },
};

/** One card with its credential, signed by the official client and not sent yet. */
export async function createOrder({ chain, services }, number, account, rail, card = x402.card()) {
  const { post, endpoint, sign } = RAILS[rail];
  const response = await fetch(...post(services[number % services.length].url, card));
  if (response.status !== 402) throw new Error(`${rail}: ${response.status} ${await response.text()} instead of a challenge`);
  const signed = await sign(chain, account, response.clone());
  const { payTo } = x402.terms(response).accepts[0];
  const { public_order_id: id = null } = await response.json();
  return { number, rail, account, endpoint, ...signed, body: JSON.stringify(card), payTo, id, ids: new Set(), statuses: [], sent: null, answered: null, outcome: null, code: "" };
}

/** A connection that was refused or closed, as the built-in client reports it, or an answer that asks to come back later. */
const isPassing = error => (error instanceof TypeError && ["fetch failed", "terminated"].includes(error.message)) || / 50[23] /.test(error.message);

/** The same, and repeated until the service gives a challenge, for services that are killed or lack an outside. */
export async function createOrderPatiently(...of) {
  for (;;) {
    try {
      return await createOrder(...of);
    } catch (error) {
      if (!isPassing(error)) throw error;
      await sleep(NOBODY_LISTENS_MILLISECONDS);
    }
  }
}

/** One order for each number below `count`: payers take turns, and so do the rails, so that each process meets both. */
export async function createOrders(stack, accounts, rails, count) {
  const orders = [];
  for (let from = 0; from < count; from += SIGN_AT_ONCE) {
    const some = Array.from({ length: Math.min(SIGN_AT_ONCE, count - from) }, (_, at) => from + at);
    orders.push(...(await Promise.all(some.map(number => createOrder(stack, number, accounts[number % accounts.length], rails[Math.floor(number / RAIL_RUN) % rails.length])))));
  }
  return orders;
}

const agent = new Agent({ keepAlive: true });

/** Sends the paid request once; the status is 0 if there was no answer. */
export function send(url, order) {
  order.sent ??= now();
  return new Promise(resolve => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(order.body), ...order.headers };
    const asked = request(`${url}${order.endpoint}`, { method: "POST", agent, headers, signal: AbortSignal.timeout(ANSWER_MILLISECONDS) }, answer => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", piece => (text += piece));
      answer.once("end", () => resolve(record(order, answer.statusCode, text, answer.headers)));
      answer.once("error", ({ code }) => resolve(record(order, 0, JSON.stringify({ error: { code } }))));
    });
    asked.once("error", ({ code }) => resolve(record(order, 0, JSON.stringify({ error: { code } }))));
    asked.end(order.body);
  });
}

/** A kept connection may be closed by its idle timeout just as it is used; then the request is sent again. */
export async function sendUntilAnswered(url, order) {
  for (let tries = 1; tries < SEND_TRIES; tries += 1) {
    const status = await send(url, order);
    if (status !== 0) return status;
  }
  return send(url, order);
}

/** Why an x402 payment is refused; the body of such an answer is empty. */
function reason(headers) {
  const decode = name => JSON.parse(Buffer.from(headers[name] ?? "e30=", "base64").toString());
  return decode("payment-response").errorReason ?? decode("payment-required").error ?? "";
}

function record(order, status, text, headers = {}) {
  order.answered = now();
  order.statuses.push(status);
  let body = {};
  try {
    body = JSON.parse(text);
  } catch {
    // A truncated answer of a process that was killed, or an unknown one.
  }
  order.code = body.error?.code ?? body.type?.split("/").at(-1) ?? "";
  if (status === 200) order.ids.add(body.id);
  order.id ??= body.id ?? body.public_order_id ?? body.error?.public_order_id ?? null;
  if (status === 200) order.fulfilment = body.status;
  if (status === 200) order.outcome = "paid";
  else if (isRefusal(status, body)) order.outcome = "refused";
  if (order.outcome === "refused") order.refusal = `${status} ${reason(headers)} ${text.slice(0, 300)}`;
  return status;
}

/** Whether this credential will never pay for this card. */
function isRefusal(status, body) {
  if (["never", "new_payment"].includes(body.error?.retry)) return true;
  return status >= 400 && status < 500 && !REPEATABLE.has(status);
}

/** Repeats the same request to any process that is alive, until it is paid or refused or the time is over. The pauses grow up to `pauseMost`. */
export async function payUntilSettled(services, order, end, pauseMost = PAUSE_MILLISECONDS) {
  for (let attempt = 0; order.outcome === null && Date.now() < end; attempt += 1) {
    const alive = services.filter(service => service.alive);
    if (alive.length === 0) {
      await sleep(NOBODY_LISTENS_MILLISECONDS);
      continue;
    }
    const status = await send(alive[(order.number + attempt) % alive.length].url, order);
    if (order.outcome === null) await sleep(status === 0 ? NOBODY_LISTENS_MILLISECONDS : Math.min(pauseMost, PAUSE_MILLISECONDS * 1.5 ** attempt));
  }
}
