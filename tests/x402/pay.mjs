// Pays for cards with the official client, and compares the balances of payer and seller.
//
//   node pay.mjs BINARY settler|facilitator
import assert from "node:assert/strict";
import { test, before, after } from "node:test";
import { decodePaymentResponseHeader, wrapFetchWithPayment } from "@x402/fetch";
import { createPermit2ApprovalTx } from "@x402/evm/upto/client";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { CEILING, DOLLARS, UNITS_IN_A_CENT, card, post, sign, terms, wallet } from "./buyer.mjs";
import { USDC, startChain, who } from "./chains.mjs";
import { startFacilitator } from "./facilitator.mjs";
import { open, premises, until } from "./service.mjs";

const [binary, way] = process.argv.slice(2);
const NETWORKS = { base: 8453, polygon: 137, arbitrum: 42161 };

const chains = {};
let carrier;
let place;
let service;

before(async () => {
  for (const [name, id] of Object.entries(NETWORKS)) chains[name] = await startChain(id);
  const rpc = Object.fromEntries(Object.entries(chains).map(([name, { url }]) => [name, url]));
  if (way === "facilitator") carrier = await startFacilitator(Object.values(chains));
  const hands = { settler: { account: who.facilitator }, facilitator: { facilitator: carrier?.url } };
  place = premises({ kind: way, rpc, ...hands[way] });
  service = await open(binary, place);
  // A remote facilitator is first asked what it supports.
  await until("there are terms", async () => (await fetch(...post(service.url, card()))).status === 402);
});

after(async () => {
  await service?.stop();
  carrier?.stop();
  for (const chain of Object.values(chains)) chain.stop();
  place?.remove();
});

const buy = (...words) => post(service.url, ...words);

async function challenge(body) {
  const response = await fetch(...buy(body));
  assert.equal(response.status, 402);
  return { terms: terms(response), said: await response.json() };
}

/** A new account with 10 USDC and no gas. */
async function newAccount(chain) {
  const account = privateKeyToAccount(generatePrivateKey());
  await chain.fund(account.address, 10n * DOLLARS);
  return account;
}

for (const [name, id] of Object.entries(NETWORKS)) {
  test(`the official client pays on ${name}, to the last unit`, async () => {
    const chain = chains[name];
    const { terms: offered } = await challenge(card());
    const { payTo } = offered.accepts.find(one => one.network === chain.network);
    const had = { payer: await chain.balance("payer"), payee: await chain.holds(payTo) };
    const body = card();
    const paid = await wrapFetchWithPayment(fetch, wallet(chain.network, who.payer))(...buy(body));
    const said = await paid.json();
    assert.equal(paid.status, 200, JSON.stringify(said));
    assert.equal(said.status, "submitted");
    const receipt = decodePaymentResponseHeader(paid.headers.get("payment-response"));
    assert.equal(receipt.success, true);
    assert.equal(receipt.network, `eip155:${id}`);
    const charged = BigInt(receipt.amount);
    assert.ok(charged > 0n && charged <= CEILING && charged % UNITS_IN_A_CENT === 0n, receipt.amount);
    assert.equal((await chain.balance("payer")) - had.payer, -charged);
    assert.equal((await chain.holds(payTo)) - had.payee, charged);
    const again = await fetch(...buy(body));
    assert.equal(again.status, 200);
    assert.equal(again.headers.get("payment-response"), null);
    assert.deepEqual(await again.json(), said);
    const order = await (await fetch(`${service.url}/api/x402/orders/${said.id}`)).json();
    assert.equal(order.payment.transaction, receipt.transaction, JSON.stringify(order));
    assert.equal((await chain.holds(payTo)) - had.payee, charged);
  });
}

test("without an allowance it is 412, and after the approval the same credential pays", async () => {
  const account = await newAccount(chains.base);
  await chains.base.hand.setBalance({ address: account.address, value: 10n ** 18n });
  const body = card();
  const { header } = await sign(wallet(chains.base.network, account), (await challenge(body)).terms);
  const early = await fetch(...buy(body, { "payment-signature": header }));
  assert.equal(terms(early)?.error, "permit2_allowance_required", await early.text());
  assert.equal(early.status, 412);
  await chains.base.send(account, createPermit2ApprovalTx(USDC[8453]));
  const paid = await fetch(...buy(body, { "payment-signature": header }));
  assert.equal(paid.status, 200, await paid.text());
  const { amount } = decodePaymentResponseHeader(paid.headers.get("payment-response"));
  assert.equal((await chains.base.holds(account.address)) + BigInt(amount), 10n * DOLLARS);
});

test("a payer with neither allowance nor gas is sponsored", async () => {
  const account = await newAccount(chains.base);
  const signer = { address: account.address, signTypedData: request => account.signTypedData(request), readContract: request => chains.base.reader.readContract(request) };
  const paid = await wrapFetchWithPayment(fetch, wallet(chains.base.network, signer))(...buy(card()));
  assert.equal(paid.status, 200, await paid.text());
  const receipt = decodePaymentResponseHeader(paid.headers.get("payment-response"));
  assert.equal((await chains.base.holds(account.address)) + BigInt(receipt.amount), 10n * DOLLARS);
});

test("a credential that paid for one card is answered 409 with another card", async () => {
  const [body, other] = [card(), card()];
  const { header } = await sign(wallet(chains.base.network, who.payer), (await challenge(body)).terms);
  const paid = await fetch(...buy(body, { "payment-signature": header }));
  assert.equal(paid.status, 200, await paid.text());
  const had = await chains.base.balance("payer");
  const refused = await fetch(...buy(other, { "payment-signature": header }));
  const said = await refused.json();
  assert.deepEqual([refused.status, said.error?.code], [409, "payment_bound_elsewhere"], JSON.stringify(said));
  assert.equal(refused.headers.get("payment-required"), null);
  assert.equal(await chains.base.balance("payer"), had);
  // The other card waits for a payment of its own.
  await challenge(other);
});

test("one credential sent 256 times at once and many times more pays once", async () => {
  const body = card();
  const { terms: offered } = await challenge(body);
  const { payTo } = offered.accepts.find(one => one.network === "eip155:8453");
  const had = await chains.base.holds(payTo);
  const { header } = await sign(wallet(chains.base.network, who.payer), offered);
  const sendIt = async () => {
    const answer = await fetch(...buy(body, { "payment-signature": header }));
    return { status: answer.status, receipt: answer.headers.get("payment-response"), reason: terms(answer)?.error, said: await answer.json() };
  };
  const answers = await Promise.all(Array.from({ length: 256 }, sendIt));
  for (let turn = 0; turn < 1_000; turn += 1) answers.push(await sendIt());
  const bad = answers.filter(({ status }) => status !== 200 && status !== 409 && status !== 503);
  assert.deepEqual(bad.slice(0, 3), []);
  const good = answers.filter(({ status }) => status === 200);
  assert.equal(new Set(good.map(({ said }) => said.id)).size, 1);
  assert.equal(good.filter(({ receipt }) => receipt).length, 1);
  assert.ok(good.length >= 1_000, `${good.length} of ${answers.length} heard of the card`);
  const charged = (await chains.base.holds(payTo)) - had;
  assert.equal(charged % UNITS_IN_A_CENT, 0n);
  assert.ok(charged > 0n && charged <= CEILING, String(charged));
});

test("a service that is killed after the payment knows it when it opens again", async () => {
  const body = card();
  const paid = await wrapFetchWithPayment(fetch, wallet(chains.base.network, who.payer))(...buy(body));
  const said = await paid.json();
  assert.equal(paid.status, 200, JSON.stringify(said));
  await service.kill();
  service = await open(binary, place);
  const again = await fetch(...buy(body));
  assert.deepEqual([again.status, (await again.json()).id], [200, said.id]);
});
