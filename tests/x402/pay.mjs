// Pays for cards as a stranger would, and counts every unit on both sides.
import assert from "node:assert/strict";
import { test, before, after } from "node:test";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client, x402HTTPClient } from "@x402/fetch";
import { createPermit2ApprovalTx, UptoEvmScheme } from "@x402/evm/upto/client";
import { createPublicClient, decodeFunctionResult, encodeFunctionData, http, parseAbi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { NETWORKS, PERMIT2, rpc, send, startAnvil, who } from "../chain/nodes.mjs";
import { open, premises } from "./service.mjs";

const [binary] = process.argv.slice(2);
const UNITS_IN_A_CENT = 12_100n;
const DOLLARS = 1_000_000n;
const erc20 = parseAbi(["function balanceOf(address) view returns (uint256)", "function approve(address,uint256)"]);

const nodes = {};
let place;
let service;

before(async () => {
  for (const [name, network] of Object.entries(NETWORKS)) nodes[name] = await startAnvil(network);
  const urls = Object.fromEntries(Object.entries(nodes).map(([name, node]) => [name, node.url]));
  place = premises({ kind: "settler", rpc: urls, account: who.facilitator });
  service = await open(binary, place);
});

after(async () => {
  await service?.stop();
  for (const node of Object.values(nodes)) node.stop();
  place?.remove();
});

let cards = 0;
/** No two cards are alike, as the same card twice is one order. */
function card() {
  cards += 1;
  const recipient = { name: "Ada Lovelace", address: "12 St James's Square", city: "London", province: "London", postal_code: "SW1Y 4JH", country: "GB" };
  return { front_image_url: "https://images.example.org/sea.jpg", message: `The sea says hello, number ${cards}.`, recipient };
}

const post = (body, headers = {}) => [
  `${service.url}/api/x402/postcards`,
  { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) },
];

async function balance(name, address) {
  const data = encodeFunctionData({ abi: erc20, functionName: "balanceOf", args: [address] });
  const { result } = await rpc(nodes[name].url, "eth_call", [{ to: NETWORKS[name].usdc, data }, "latest"]);
  return decodeFunctionResult({ abi: erc20, functionName: "balanceOf", data: result });
}

const approve = (name, account) =>
  send(nodes[name].url, account, NETWORKS[name].usdc, encodeFunctionData({ abi: erc20, functionName: "approve", args: [PERMIT2, 100n * DOLLARS] }), { chainId: NETWORKS[name].chain });

/** The official client with its spend control raised, on one network. */
function payer(name, account, options) {
  const client = new x402Client().register(`eip155:${NETWORKS[name].chain}`, new UptoEvmScheme(account, options));
  client.setSpendControls({ maxAmountPerPayment: "$3.50" });
  return client;
}

/** What PAYMENT-REQUIRED says, if it is there. */
const terms = response => JSON.parse(Buffer.from(response.headers.get("payment-required") ?? "bnVsbA==", "base64").toString());

async function challenge(body) {
  const response = await fetch(...post(body));
  assert.equal(response.status, 402);
  return { terms: terms(response), said: await response.json(), response };
}

/** One credential, signed by the official client and not sent yet. */
async function credential(client, response) {
  const wallet = new x402HTTPClient(client);
  const required = wallet.getPaymentRequiredResponse(name => response.headers.get(name), undefined);
  const payload = await wallet.createPaymentPayload(required);
  return wallet.encodePaymentSignatureHeader(payload)["PAYMENT-SIGNATURE"];
}

for (const name of Object.keys(NETWORKS)) {
  test(`the official client pays on ${name}, to the last unit`, async () => {
    const { terms: offered } = await challenge(card());
    const offer = offered.accepts.find(one => one.network === `eip155:${NETWORKS[name].chain}`);
    await nodes[name].fund(who.payer.address, 10n * DOLLARS);
    await approve(name, who.payer);
    const had = { payer: await balance(name, who.payer.address), payee: await balance(name, offer.payTo) };
    const body = card();
    const paid = await wrapFetchWithPayment(fetch, payer(name, who.payer))(...post(body));
    const said = await paid.json();
    assert.equal(paid.status, 200, JSON.stringify(said));
    assert.equal(said.status, "submitted");
    const receipt = decodePaymentResponseHeader(paid.headers.get("payment-response"));
    assert.equal(receipt.success, true);
    assert.equal(receipt.network, `eip155:${NETWORKS[name].chain}`);
    const charged = BigInt(receipt.amount);
    assert.ok(charged > 0n && charged <= 3_500_000n && charged % UNITS_IN_A_CENT === 0n, receipt.amount);
    assert.equal((await balance(name, who.payer.address)) - had.payer, -charged);
    assert.equal((await balance(name, offer.payTo)) - had.payee, charged);
    const again = await fetch(...post(body));
    assert.equal(again.status, 200);
    assert.equal(again.headers.get("payment-response"), null);
    assert.deepEqual(await again.json(), said);
    const order = await (await fetch(`${service.url}/api/x402/orders/${said.id}`)).json();
    assert.equal(order.payment.transaction, receipt.transaction, JSON.stringify(order));
    assert.equal((await balance(name, offer.payTo)) - had.payee, charged);
  });
}

test("without an allowance it is 412, and after the approval the same credential pays", async () => {
  const account = privateKeyToAccount(generatePrivateKey());
  await nodes.base.fund(account.address, 10n * DOLLARS);
  await rpc(nodes.base.url, "anvil_setBalance", [account.address, "0xde0b6b3a7640000"]);
  const body = card();
  const { response } = await challenge(body);
  const header = await credential(payer("base", account), response);
  const early = await fetch(...post(body, { "payment-signature": header }));
  assert.equal(terms(early)?.error, "permit2_allowance_required", await early.text());
  assert.equal(early.status, 412);
  const { to, data } = createPermit2ApprovalTx(NETWORKS.base.usdc);
  await send(nodes.base.url, account, to, data);
  const paid = await fetch(...post(body, { "payment-signature": header }));
  assert.equal(paid.status, 200, await paid.text());
});

test("a payer with neither allowance nor gas is carried", async () => {
  const account = privateKeyToAccount(generatePrivateKey());
  await nodes.base.fund(account.address, 10n * DOLLARS);
  const reader = createPublicClient({ transport: http(nodes.base.url) });
  const signer = { ...account, address: account.address, readContract: request => reader.readContract(request), signTypedData: request => account.signTypedData(request) };
  const paid = await wrapFetchWithPayment(fetch, payer("base", signer))(...post(card()));
  assert.equal(paid.status, 200, await paid.text());
  const receipt = decodePaymentResponseHeader(paid.headers.get("payment-response"));
  assert.equal((await balance("base", account.address)) + BigInt(receipt.amount), 10n * DOLLARS);
});

test("one credential sent 256 times at once and many times more pays once", async () => {
  const body = card();
  const { terms: offered, response } = await challenge(body);
  const { payTo } = offered.accepts.find(one => one.network === "eip155:8453");
  const had = await balance("base", payTo);
  const header = await credential(payer("base", who.payer), response);
  const sendIt = async () => {
    const answer = await fetch(...post(body, { "payment-signature": header }));
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
  const charged = (await balance("base", payTo)) - had;
  assert.equal(charged % UNITS_IN_A_CENT, 0n);
  assert.ok(charged > 0n && charged <= 3_500_000n, String(charged));
});

test("a service that is killed after the payment knows it when it opens again", async () => {
  const body = card();
  const paid = await wrapFetchWithPayment(fetch, payer("base", who.payer))(...post(body));
  const said = await paid.json();
  assert.equal(paid.status, 200, JSON.stringify(said));
  await service.kill();
  service = await open(binary, place);
  const again = await fetch(...post(body));
  assert.deepEqual([again.status, (await again.json()).id], [200, said.id]);
});
