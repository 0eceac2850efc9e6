// Our settler on a real node, with transfers that viem signs, submits and cancels.
//
//   node settler.mjs CARRY_BINARY
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import { createWalletClient, http, parseAbi, parseSignature, toHex } from "viem";
import { USDC, startChain, who } from "../x402/chains.mjs";

const PRICE = 3_500_000n;
const TOKEN = USDC[8453];
const abi = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  "function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
]);
const domain = { name: "USD Coin", version: "2", chainId: 8453, verifyingContract: TOKEN };
const field = (type, name) => ({ type, name });
const types = {
  TransferWithAuthorization: [field("address", "from"), field("address", "to"), field("uint256", "value"), field("uint256", "validAfter"), field("uint256", "validBefore"), field("bytes32", "nonce")],
  CancelAuthorization: [field("address", "authorizer"), field("bytes32", "nonce")],
};
let chain, settler;

/** Our settler in its own process: one line of JSON in, one out. */
function startSettler(binary, words) {
  const child = spawn(binary, words, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async question => {
    child.stdin.write(`${JSON.stringify(question)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error(`the settler ended at ${JSON.stringify(question).slice(0, 80)}`);
    return JSON.parse(value);
  };
  return { ask, stop: () => child.stdin.end() };
}

/** What an MPP client signs, and the calls to the settler for it. */
async function sign(role, { to = who.payee.address, nonce = toHex(randomBytes(32)), seconds = 300n } = {}) {
  const { timestamp } = await chain.reader.getBlock();
  const message = { from: who[role].address, to, value: PRICE, validAfter: 0n, validBefore: timestamp + seconds, nonce };
  const signature = await who[role].signTypedData({ domain, types, primaryType: "TransferWithAuthorization", message });
  const words = Object.fromEntries(Object.entries({ ...message, signature }).map(([name, value]) => [name, String(value)]));
  let preparation;
  const ask = question => settler.ask({ do: question, authorization: words, preparation });
  const prepare = async () => {
    const answer = await ask("prepare");
    ({ preparation } = answer);
    assert.ok(preparation, JSON.stringify(answer));
  };
  return { message, signature, prepare, verify: () => ask("verify"), settle: () => ask("settle"), trace: () => ask("trace") };
}

/** Another account calls the token. */
async function call(functionName, args) {
  const wallet = createWalletClient({ chain: chain.chain, transport: http(chain.url), account: who.minter });
  const hash = await wallet.writeContract({ address: TOKEN, abi, functionName, args });
  assert.equal((await chain.reader.waitForTransactionReceipt({ hash })).status, "success");
  return hash;
}

function carry({ message, signature }) {
  const { from, to, value, validAfter, validBefore, nonce } = message;
  const { v, r, s } = parseSignature(signature);
  return call("transferWithAuthorization", [from, to, value, validAfter, validBefore, nonce, Number(v), r, s]);
}

async function cancel(role, { message: { nonce } }) {
  const message = { authorizer: who[role].address, nonce };
  const { v, r, s } = parseSignature(await who[role].signTypedData({ domain, types, primaryType: "CancelAuthorization", message }));
  return call("cancelAuthorization", [message.authorizer, nonce, Number(v), r, s]);
}

/** Runs something and returns what the seller received. */
async function paid(doing) {
  const before = await chain.balance("payee");
  const result = await doing();
  return [result, (await chain.balance("payee")) - before];
}

const later = () => chain.hand.mine({ blocks: 3 });

const tests = {
  async "a transfer to the unit, once, and final in the end"() {
    const payment = await sign("payer");
    assert.deepEqual(await payment.verify(), { valid: true });
    await payment.prepare();
    assert.deepEqual(await payment.trace(), { open: true });
    const [said, won] = await paid(payment.settle);
    assert.deepEqual([said.finality, won], ["provisional", PRICE], JSON.stringify(said));
    const receipt = await chain.reader.getTransactionReceipt({ hash: said.moved });
    assert.equal(receipt.from.toLowerCase(), who.facilitator.address.toLowerCase());
    assert.deepEqual(await paid(payment.settle), [said, 0n]);
    await later();
    assert.deepEqual(await payment.trace(), { ...said, finality: "final" });
  },

  async "a payer without gas pays, and one without money hears why"() {
    const newcomer = await sign("newcomer");
    await chain.hand.setBalance({ address: who.newcomer.address, value: 0n });
    await newcomer.prepare();
    const [said, won] = await paid(newcomer.settle);
    assert.deepEqual([won, said.finality], [PRICE, "provisional"], JSON.stringify(said));
    const pauper = await sign("pauper");
    assert.match((await pauper.verify()).invalid, /enough USDC/);
  },

  async "a transfer that another account submitted counts as paid, before and after we signed"() {
    const after = await sign("payer");
    await after.prepare();
    const theirs = await carry(after);
    const [said, won] = await paid(after.settle);
    assert.deepEqual([said.moved, won], [theirs, 0n], JSON.stringify(said));
    const before = await sign("payer");
    const first = await carry(before);
    assert.deepEqual(await before.verify(), { valid: true });
    await before.prepare();
    assert.equal((await before.settle()).moved, first);
    await later();
    assert.deepEqual(await before.trace(), { moved: first, finality: "final" });
    assert.deepEqual(await after.trace(), { moved: theirs, finality: "final" });
  },

  async "a cancelled authorization reads as used, and is void"() {
    const payment = await sign("payer");
    await payment.prepare();
    await cancel("payer", payment);
    const used = await chain.reader.readContract({ address: TOKEN, abi, functionName: "authorizationState", args: [payment.message.from, payment.message.nonce] });
    assert.equal(used, true);
    assert.match((await payment.verify()).invalid, /cancelled/);
    assert.deepEqual(await payment.trace(), { open: true });
    const [said, won] = await paid(payment.settle);
    assert.ok(said.lost && won === 0n, JSON.stringify(said));
    await later();
    assert.deepEqual(await payment.trace(), { void: true });
  },

  async "a nonce that was used for another transfer is void"() {
    const payment = await sign("payer");
    await payment.prepare();
    await carry(await sign("payer", { to: who.pauper.address, nonce: payment.message.nonce }));
    const [said, won] = await paid(payment.settle);
    assert.ok(said.lost && won === 0n, JSON.stringify(said));
    assert.deepEqual(await payment.trace(), { open: true });
    await later();
    assert.deepEqual(await payment.trace(), { void: true });
  },

  async "a payment that is reorganised away is open, and settles again"() {
    const payment = await sign("payer");
    await payment.prepare();
    const { moved, ...rest } = await payment.settle();
    assert.ok(moved, JSON.stringify(rest));
    await chain.hand.request({ method: "anvil_reorg", params: [1, []] });
    assert.deepEqual(await payment.trace(), { open: true });
    const [said, won] = await paid(payment.settle);
    assert.deepEqual([said.moved, won], [moved, PRICE], JSON.stringify(said));
  },

  async "an unused authorization is void once a final block is past its end"() {
    const payment = await sign("payer");
    await payment.prepare();
    await chain.hand.mine({ blocks: 1, interval: 400 });
    assert.deepEqual(await payment.trace(), { open: true });
    await chain.hand.mine({ blocks: 4, interval: 400 });
    assert.deepEqual(await payment.trace(), { void: true });
  },
};

let code = 0;
try {
  chain = await startChain(8453);
  const key = toHex(who.facilitator.getHdKey().privateKey);
  settler = startSettler(process.argv[2], [key, chain.url]);
  for (const [name, test] of Object.entries(tests)) {
    await test();
    console.log(`ok  ${name}`);
  }
} catch (error) {
  code = 1;
  console.error(error);
}
settler?.stop();
chain?.stop();
process.exit(code);
