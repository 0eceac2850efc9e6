// Published smart wallets pay for cards, and wallets that cannot pay get the documented answer.
//
//   node main.mjs BINARY
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { decodePaymentResponseHeader } from "@x402/fetch";
import { Credential } from "mppx";
import { createWalletClient, http } from "viem";
import * as mpp from "../mpp/payer.mjs";
import { CEILING, card, post, sign, terms, wallet } from "../x402/buyer.mjs";
import { account, startChain } from "../x402/chains.mjs";
import { startFacilitator } from "../x402/facilitator.mjs";
import { open, premises, until } from "../x402/service.mjs";
import { createKeyAccount, createSafe, createSimpleAccount, delegate, newKey } from "./accounts.mjs";
import { deployContracts } from "./contracts.mjs";
import { startCountingNode } from "./counting_node.mjs";
import { changes } from "./tampering.mjs";

const [binary] = process.argv.slice(2);
const stops = [];
let chain;
let node;
let contracts;
/** Services by the kind of their payments. */
const services = {};

/** What `startChain` gives, and what deployments need. */
async function startWalletChain() {
  const started = await startChain(8453);
  const { reader, hand, chain: definition, url } = started;
  const walletOf = account => createWalletClient({ account, chain: definition, transport: http(url) });
  const mined = async hash => {
    const receipt = await reader.waitForTransactionReceipt({ hash });
    assert.equal(receipt.status, "success", hash);
    return receipt;
  };
  return {
    ...started,
    wallet: walletOf,
    write: async (account, address, abi, functionName, args) => mined(await walletOf(account).writeContract({ address, abi, functionName, args })),
    deploy: async (account, abi, bytecode, args) => (await mined(await walletOf(account).deployContract({ abi, bytecode, args }))).contractAddress,
    /** A transaction of any address, with the development node's help. */
    as: async (address, transaction) => {
      await hand.impersonateAccount({ address });
      await hand.setBalance({ address, value: 10n ** 18n });
      await mined(await hand.request({ method: "eth_sendTransaction", params: [{ from: address, ...transaction }] }));
      await hand.stopImpersonatingAccount({ address });
    },
  };
}

async function startService(kind, settings) {
  const place = premises({ kind, ...settings });
  const service = await open(binary, place);
  stops.unshift(async () => {
    await service.stop();
    place.remove();
  });
  services[kind] = service.url;
  await until("there are terms", async () => (await fetch(...post(service.url, card()))).status === 402);
}

before(async () => {
  chain = await startWalletChain();
  node = await startCountingNode(chain.url);
  stops.push(() => node.stop(), () => chain.stop());
  contracts = await deployContracts(chain);
  const rpc = { base: node.url };
  // Not the facilitator's account: each sender counts the nonces of its own.
  await startService("settler", { rpc, account: account(6) });
  const facilitator = await startFacilitator([chain]);
  stops.unshift(() => facilitator.stop());
  await startService("facilitator", { rpc, facilitator: facilitator.url });
});

after(async () => {
  for (const stop of stops) await stop();
});

async function challenge(url, body) {
  const response = await fetch(...post(url, body));
  assert.equal(response.status, 402);
  return terms(response);
}

/** The answer to a credential, with the reason of a refusal. */
async function present(url, body, header) {
  const response = await fetch(...post(url, body, { "payment-signature": header }));
  const receipt = response.headers.get("payment-response");
  const settled = receipt ? decodePaymentResponseHeader(receipt) : null;
  return { status: response.status, settled, reason: settled?.errorReason ?? terms(response)?.error, text: await response.text() };
}

/** A card, and the credential that this signer signs with the official client. */
async function order(url, signer) {
  const body = card();
  const { header } = await sign(wallet(chain.network, signer), await challenge(url, body));
  return { body, header };
}

const payloadOf = header => JSON.parse(Buffer.from(header, "base64").toString());
const headerOf = payload => Buffer.from(JSON.stringify(payload)).toString("base64");
const signatureBytes = header => (payloadOf(header).payload.signature.length - 2) / 2;

/** The card is paid, and exactly the charge has left the account. */
async function pays(signer, { kind = "settler", bytes = null } = {}) {
  const held = await chain.holds(signer.address);
  const { body, header } = await order(services[kind], signer);
  if (bytes !== null) assert.equal(signatureBytes(header), bytes);
  const { status, settled, reason, text } = await present(services[kind], body, header);
  assert.equal(status, 200, `${reason} ${text}`);
  const charged = BigInt(settled.amount);
  assert.ok(charged > 0n && charged <= CEILING, settled.amount);
  assert.equal(held - (await chain.holds(signer.address)), charged);
  return { body, header };
}

/** The card is refused for this reason, and nothing has left the account. */
async function isRefused(signer, expected, { kind = "settler" } = {}) {
  const held = await chain.holds(signer.address);
  const { body, header } = await order(services[kind], signer);
  const { status, reason } = await present(services[kind], body, header);
  assert.deepEqual([status, reason], [402, expected]);
  assert.equal(await chain.holds(signer.address), held);
  return { body, header };
}

for (const kind of ["settler", "facilitator"]) {
  test(`${kind}: a Safe with one owner pays with a signature of 65 bytes`, async () => {
    await pays(await createSafe(chain, contracts), { kind, bytes: 65 });
  });

  test(`${kind}: a Safe with two owners pays with a signature of 130 bytes`, async () => {
    await pays(await createSafe(chain, contracts, { owners: [newKey(), newKey()] }), { kind, bytes: 130 });
  });

  test(`${kind}: an ERC-4337 account pays`, async () => {
    await pays(await createSafe(chain, contracts, { kind: "erc4337" }), { kind });
  });

  test(`${kind}: a deployed account pays with a signature that says how it is deployed (ERC-6492)`, async () => {
    const { wrapped } = await createSafe(chain, contracts);
    const { header } = await pays(wrapped, { kind });
    assert.ok(payloadOf(header).payload.signature.endsWith("6492".repeat(16)));
  });

  test(`${kind}: an EIP-7702 account whose code accepts its key pays`, async () => {
    const account = await createKeyAccount(chain);
    await delegate(chain, account, contracts.simple7702.address);
    assert.match(await chain.reader.getCode({ address: account.address }), /^0xef0100/);
    await pays(account, { kind, bytes: 65 });
  });

  test(`${kind}: an account that is not deployed is refused with the reason, and pays once it is deployed`, async () => {
    const account = await createSafe(chain, contracts, { deployed: false });
    const { body, header } = await isRefused(account.wrapped, "contract_wallet_not_deployed", { kind });
    await account.deploy();
    const { status, text } = await present(services[kind], body, header);
    assert.equal(status, 200, text);
  });

  test(`${kind}: the signature of a key that is no owner is refused`, async () => {
    const { address } = await createSafe(chain, contracts);
    const thief = newKey();
    await isRefused({ address, signTypedData: data => thief.signTypedData(data) }, "contract_wallet_rejected_signature", { kind });
  });

  test(`${kind}: an account with code that confirms no signatures is refused`, async () => {
    await isRefused(await createSimpleAccount(chain, contracts), "contract_wallet_rejected_signature", { kind });
  });
}

test("an EIP-7702 account whose code does not accept its key is refused, and pays without the delegation", async () => {
  const account = await createKeyAccount(chain);
  const { address } = await createSimpleAccount(chain, contracts);
  await delegate(chain, account, address);
  await isRefused(account, "contract_wallet_rejected_signature");
  await delegate(chain, account, "0x0000000000000000000000000000000000000000");
  await pays(account);
});

test("by MPP a smart wallet is refused with where it can pay", async () => {
  const { address } = await createSafe(chain, contracts);
  const body = card();
  const challenged = await fetch(...mpp.post(services.settler, body));
  const credential = Credential.deserialize(await mpp.credential(newKey(), challenged));
  credential.payload = { ...credential.payload, from: address, signature: `0x${"11".repeat(130)}` };
  delete credential.source;
  const authorization = Credential.serialize(credential);
  const response = await fetch(...mpp.post(services.settler, body, { authorization }));
  const { type, detail } = await response.json();
  assert.deepEqual([response.status, type.split("/").at(-1)], [402, "verification-failed"]);
  assert.match(detail, /smart wallets.*\/api\/x402\/postcards/);
});

test("with an account without code, a change of any field is refused without a call to the node", async () => {
  const [payer, other] = [await createKeyAccount(chain), await createKeyAccount(chain)];
  // The service knows that both have no code since they paid.
  await pays(payer);
  await pays(other);
  const { body, header } = await order(services.settler, payer);
  const asked = node.questions();
  let tried = 0;
  for (const { place, payload } of changes(payloadOf(header), { otherAccount: other.address })) {
    const { status } = await present(services.settler, body, headerOf(payload));
    assert.ok([400, 402].includes(status), `${place}: ${status}`);
    assert.deepEqual(node.questions(), asked, `${place} ${JSON.stringify(payload).slice(0, 2_000)}`);
    tried += 1;
  }
  assert.ok(tried > 100, String(tried));
  // The unchanged credential still pays.
  const { status, text } = await present(services.settler, body, header);
  assert.equal(status, 200, text);
});

test("an account about which nothing is known costs one call, however often it is named", async () => {
  const { body, header } = await order(services.settler, newKey());
  const payload = payloadOf(header);
  payload.payload.permit2Authorization.from = newKey().address;
  const asked = node.questions();
  for (let turn = 0; turn < 20; turn += 1) {
    const { status, reason } = await present(services.settler, body, headerOf(payload));
    assert.deepEqual([status, reason], [402, "invalid_permit2_signature"]);
  }
  assert.deepEqual(node.questions(), { ...asked, eth_getCode: asked.eth_getCode + 1 });
});

test("forged signatures of many unknown accounts cost a limited number of calls", async () => {
  const { body, header } = await order(services.settler, newKey());
  const asked = node.questions();
  const started = performance.now();
  for (let turn = 0; turn < 300; turn += 1) {
    const payload = payloadOf(header);
    payload.payload.permit2Authorization.from = `0x${turn.toString(16).padStart(40, "a")}`;
    const { status } = await present(services.settler, body, headerOf(payload));
    assert.ok([402, 503].includes(status), String(status));
  }
  const calls = node.questions().eth_getCode - asked.eth_getCode;
  const allowed = 60 + 5 * (Math.ceil((performance.now() - started) / 1_000) + 1);
  assert.ok(calls > 0 && calls <= allowed, `${calls} calls, ${allowed} allowed`);
  assert.equal(node.questions().eth_call, asked.eth_call);
});
