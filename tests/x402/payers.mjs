// Payers for the tests with faults: they repeat, sign again, disconnect and return, and record every answer.
import { decodePaymentResponseHeader } from "@x402/fetch";
import { toHex } from "viem";
import { ENDPOINT, UNITS_IN_A_CENT, card, post, sign, terms, wallet } from "./buyer.mjs";
import { chance, draw } from "./fault_proxy.mjs";

/** What a card costs at the emulated Lob. */
const CENTS = { US: 87n, GB: 185n };

/** How x402 is paid. `nonce` is that of the signed authorization, as Permit2 sees it. */
export const X402 = {
  post,
  endpoint: ENDPOINT,
  price: country => CENTS[country] * UNITS_IN_A_CENT,
  receipt: "payment-response",
  async sign(chain, account, response) {
    const { header, nonce } = await sign(wallet(chain.network, account), terms(response));
    return { headers: { "payment-signature": header }, nonce: toHex(nonce, { size: 32 }) };
  },
};

/** A payer waits at least so long for an answer. */
const ANSWER_MILLISECONDS = 3_000;
const PAUSE_MILLISECONDS = 400;
const ATTEMPTS = 8;

/** How a payer sends a payment. */
const WAYS = { once: 70, twice_at_once: 12, hanging_up: 18 };
/** What a payer does when the outcome is unknown. */
const NERVES = { same_again: 70, earlier_again: 10, sign_anew: 12, look_without: 8 };

const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

/** One order: its payer, chain and rail, and a record of every request and answer. */
export function operation(number, { seed, accounts, chains, rail = X402 }) {
  const chain = chains[number % chains.length];
  const country = number % 4 === 0 ? "US" : "GB";
  const body = card(country);
  const name = `fault-${seed}-${number}`.padEnd(16, "-");
  const named = number % 5;
  if (named === 1) body.operation_id = name;
  return {
    number,
    chain,
    rail,
    price: rail.price(country),
    body,
    headers: named === 2 ? { "idempotency-key": name } : {},
    account: accounts[number % accounts.length],
    credentials: [],
    said: [],
  };
}

/** Sends the request once, with or without a credential, and records the answer. */
export async function say(url, wish, credential = null, leaveAfter = 60_000) {
  const record = { sent: Date.now(), answered: null, status: null, nonce: credential?.nonce ?? null, receipt: null, id: null, code: null };
  wish.said.push(record);
  const [address, request] = wish.rail.post(url, wish.body, { ...wish.headers, ...credential?.headers });
  try {
    const response = await fetch(address, { ...request, signal: AbortSignal.timeout(leaveAfter) });
    const said = await response.json();
    record.receipt = response.headers.get(wish.rail.receipt);
    record.id = said.id ?? said.public_order_id ?? said.error?.public_order_id ?? null;
    record.terms = terms(response);
    record.code = reason(said, record, wish.rail);
    record.challenge = response.status === 402 ? new Response(null, { status: 402, headers: response.headers }) : null;
    record.status = response.status;
    record.answered = Date.now();
  } catch {
    // No answer: the outcome is unknown.
  }
  return record;
}

/** Why a request was answered as it was, in one word. */
function reason(said, { terms: asked, receipt }, rail) {
  if (said.error?.code ?? said.type) return said.error?.code ?? said.type.split("/").at(-1);
  return said.status ?? asked?.error ?? (receipt && rail === X402 ? decodePaymentResponseHeader(receipt).errorReason : null);
}

/**
 * Tries until the card is paid, or the time is over; on a slow machine at least a few times. `urlOf` tells where the
 * service is for each step, and `answerSeconds` is the longest wait for one answer.
 */
export async function buy(urlOf, wish, { seed, seconds, answerSeconds = seconds }) {
  const begun = Date.now();
  const isPatient = () => {
    const taken = (Date.now() - begun) / (1_000 * seconds);
    return taken < 1 || (taken < 3 && wish.said.filter(({ nonce }) => nonce !== null).length < ATTEMPTS);
  };
  const left = () => Math.max(ANSWER_MILLISECONDS, Math.min(1_000 * answerSeconds, Math.ceil(begun + 1_000 * seconds - Date.now())));
  let credential = null;
  let offered = null;
  for (let step = 0; isPatient(); step += 1) {
    const luck = (...words) => chance(seed, "payer", wish.number, step, ...words);
    const url = urlOf(wish, step);
    const anew = async () => {
      credential = await wish.rail.sign(wish.chain, wish.account, offered);
      wish.credentials.push(credential);
    };
    if (!credential) {
      const { status, challenge } = await say(url, wish, null, left());
      if (status === 200) return;
      if (status === 402) {
        offered = challenge;
        await anew();
      }
    }
    if (credential) {
      const answers = await present(url, wish, credential, luck, left());
      if (answers.some(({ status }) => status === 200)) return;
      const declined = answers.every(({ status }) => status === 402);
      if (declined) credential = null;
      else {
        const nerve = draw(NERVES, luck("nerve"));
        if (nerve === "sign_anew") await anew();
        if (nerve === "earlier_again") credential = wish.credentials[Math.floor(luck("which") * wish.credentials.length)];
        if (nerve === "look_without" && (await say(url, wish, null, left())).status === 200) return;
      }
    }
    await sleep(PAUSE_MILLISECONDS * luck("pause"));
  }
}

async function present(url, wish, credential, luck, left) {
  const once = () => say(url, wish, credential, left);
  switch (draw(WAYS, luck("way"))) {
    case "twice_at_once":
      return Promise.all([once(), once()]);
    case "hanging_up":
      return [await say(url, wish, credential, 5 + Math.floor(300 * luck("leave")))];
    default:
      return [await once()];
  }
}
