// Tests our adapter against the official facilitator, with payments signed by the official client, on three nodes.
//
//   node adapter.mjs FACILITATE_BINARY
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { x402Client } from "@x402/core/client";
import { UptoEvmScheme } from "@x402/evm/upto/client";
import { declareEip2612GasSponsoringExtension } from "@x402/extensions";
import { USDC, startChain, who } from "./chains.mjs";
import { startFacilitator } from "./facilitator.mjs";

const CHARGE = 2_117_500;
const chains = [];
let facilitator, adapter;

/** Our adapter in its own process: one line of JSON in, one out. */
function startAdapter(binary, words) {
  const child = spawn(binary, words, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async question => {
    child.stdin.write(`${JSON.stringify(question)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error(`the adapter ended at ${JSON.stringify(question).slice(0, 80)}`);
    return JSON.parse(value);
  };
  return { ask, stop: () => child.stdin.end() };
}

/** The payload that the official client signs for our offer. */
async function sign(chain, role, { facilitatorAddress, seconds = 300, sponsored = false }) {
  const extra = { name: "USD Coin", version: "2", assetTransferMethod: "permit2", facilitatorAddress };
  const offer = { scheme: "upto", network: chain.network, amount: "3500000", asset: USDC[chain.id], payTo: who.payee.address, maxTimeoutSeconds: seconds, extra };
  const account = who[role];
  const signer = { address: account.address, signTypedData: message => account.signTypedData(message), readContract: request => chain.reader.readContract(request) };
  const client = new x402Client().register(chain.network, new UptoEvmScheme(signer, { rpcUrl: chain.url }));
  client.setSpendControls({ maxAmountPerPayment: "$3.50" });
  const resource = { url: "http://127.0.0.1/api/x402/postcards", description: "One postcard", mimeType: "application/json" };
  const extensions = sponsored ? declareEip2612GasSponsoringExtension() : undefined;
  return client.createPaymentPayload({ x402Version: 2, error: "Payment required", resource, accepts: [offer], extensions });
}

/** A prepared payment, and the calls to the adapter for it. */
async function begin(chain, role, options) {
  const payload = await sign(chain, role, options);
  const { preparation, ...rest } = await adapter.ask({ do: "prepare", payload });
  assert.ok(preparation, JSON.stringify(rest));
  const about = { payload, preparation, charge: CHARGE };
  const nonce = BigInt(payload.payload.permit2Authorization.nonce);
  return { payload, nonce, verify: () => adapter.ask({ do: "verify", payload }), settle: () => adapter.ask({ do: "settle", ...about }), trace: () => adapter.ask({ do: "trace", ...about }) };
}

/** Runs `doing` and returns by how much the balances of payer and payee changed. */
async function moved(chain, role, doing) {
  const before = [await chain.balance(role), await chain.balance("payee")];
  const result = await doing();
  const after = [await chain.balance(role), await chain.balance("payee")];
  return { result, lost: before[0] - after[0], won: after[1] - before[1] };
}

const isHash = text => /^0x[0-9a-f]{64}$/.test(text ?? "");
const owed = BigInt(CHARGE);
const settles = () => facilitator.journal.filter(({ endpoint }) => endpoint === "settle");

const tests = {
  async "a payment moves the exact charge, and a second settlement is never refused"(chain, options) {
    const payment = await begin(chain, "payer", options);
    assert.deepEqual(await payment.verify(), { valid: true });
    const { result, lost, won } = await moved(chain, "payer", payment.settle);
    assert.ok(isHash(result.moved) && result.finality === "provisional", JSON.stringify(result));
    assert.deepEqual([lost, won], [owed, owed]);
    assert.deepEqual(await payment.trace(), { moved: result.moved, finality: "provisional" });
    await chain.hand.mine({ blocks: 3 });
    assert.deepEqual(await payment.trace(), { moved: result.moved, finality: "final" });
    const again = await moved(chain, "payer", payment.settle);
    assert.ok(again.result.lost?.includes("permit2_simulation_failed"), JSON.stringify(again.result));
    assert.deepEqual([again.lost, again.won], [0n, 0n]);
    assert.deepEqual(await payment.verify(), { invalid: "permit2_simulation_failed" });
  },

  async "without an allowance it is reported; after an approval the same payment settles"(chain, options) {
    const payment = await begin(chain, "newcomer", options);
    assert.deepEqual(await payment.verify(), { allowance: "missing" });
    const snapshot = await chain.hand.snapshot();
    await chain.approve("newcomer");
    assert.deepEqual(await payment.verify(), { valid: true });
    const { result, lost, won } = await moved(chain, "newcomer", payment.settle);
    assert.ok(isHash(result.moved), JSON.stringify(result));
    assert.deepEqual([lost, won], [owed, owed]);
    await chain.hand.revert({ id: snapshot });
  },

  async "a permit replaces an allowance"(chain, options) {
    const payment = await begin(chain, "newcomer", { ...options, sponsored: true });
    assert.ok(payment.payload.extensions?.eip2612GasSponsoring?.info?.signature, "the client signed no permit");
    assert.deepEqual(await payment.verify(), { valid: true });
    const { result, lost, won } = await moved(chain, "newcomer", payment.settle);
    assert.ok(isHash(result.moved), JSON.stringify(result));
    assert.deepEqual([lost, won], [owed, owed]);
    assert.equal((await payment.trace()).moved, result.moved);
  },

  async "a payer without USDC is invalid"(chain, options) {
    const payment = await begin(chain, "pauper", options);
    assert.deepEqual(await payment.verify(), { invalid: "permit2_insufficient_balance" });
    const { result, won } = await moved(chain, "pauper", payment.settle);
    assert.ok(result.lost, JSON.stringify(result));
    assert.equal(won, 0n);
    assert.deepEqual(await payment.trace(), { open: true });
  },

  async "a lost answer after the money moved is traced on the chain"(chain, options) {
    const payment = await begin(chain, "payer", options);
    facilitator.hooks.after = () => undefined;
    const { result, lost, won } = await moved(chain, "payer", payment.settle);
    facilitator.calm();
    assert.ok(result.lost, JSON.stringify(result));
    assert.deepEqual([lost, won], [owed, owed]);
    const traced = await payment.trace();
    assert.ok(isHash(traced.moved), JSON.stringify(traced));
  },

  async "a pending settlement, as 200 and as 500, is requested once more"(chain, options) {
    for (const status of [200, 500]) {
      const payment = await begin(chain, "payer", options);
      const first = settles().length;
      await chain.hand.setAutomine(false);
      facilitator.hooks.before = async endpoint => {
        if (endpoint === "settle" && settles().length > first) await chain.hand.mine({ blocks: 1 });
      };
      facilitator.hooks.after = (endpoint, { body }) => ({ status: body.errorReason === "settlement_pending" ? status : 200, body });
      const { result, won } = await moved(chain, "payer", payment.settle);
      facilitator.calm();
      await chain.hand.setAutomine(true);
      const [pending, done] = settles().slice(first).map(({ body }) => body);
      assert.equal(pending.errorReason, "settlement_pending");
      assert.deepEqual([done.success, done.transaction], [true, pending.transaction]);
      assert.equal(result.moved, pending.transaction);
      assert.equal(won, owed);
    }
  },

  async "a settlement that stays pending is traced on the chain"(chain, options) {
    const payment = await begin(chain, "payer", options);
    await chain.hand.setAutomine(false);
    const { result } = await moved(chain, "payer", payment.settle);
    assert.ok(result.lost, JSON.stringify(result));
    assert.deepEqual(await payment.trace(), { open: true });
    await chain.hand.mine({ blocks: 1 });
    await chain.hand.setAutomine(true);
    assert.ok(isHash((await payment.trace()).moved));
  },

  async "incomplete or wrong answers are lost, and the chain shows the payment"(chain, options) {
    const bends = [{ amount: "3500000" }, { amount: undefined }, { network: "eip155:1" }, { transaction: "" }, { payer: who.payee.address }, { success: false, errorReason: "permit2_simulation_failed", transaction: "" }];
    for (const bend of bends) {
      const payment = await begin(chain, "payer", options);
      facilitator.hooks.after = (endpoint, { status, body }) => ({ status, body: { ...body, ...bend } });
      const { result, won } = await moved(chain, "payer", payment.settle);
      facilitator.calm();
      assert.ok(result.lost, `${JSON.stringify(bend)}: ${JSON.stringify(result)}`);
      assert.equal(won, owed);
      assert.ok(isHash((await payment.trace()).moved), JSON.stringify(bend));
    }
  },

  async "a burned nonce and an expired authorization are void"(chain, options) {
    const burned = await begin(chain, "payer", options);
    await chain.burn("payer", burned.nonce);
    assert.ok((await burned.settle()).lost);
    await chain.hand.mine({ blocks: 3 });
    assert.deepEqual(await burned.trace(), { void: true });

    const late = await begin(chain, "payer", options);
    assert.deepEqual(await late.trace(), { open: true });
    const snapshot = await chain.hand.snapshot();
    await chain.hand.mine({ blocks: 4, interval: 200 });
    assert.deepEqual(await late.trace(), { void: true });
    await chain.hand.revert({ id: snapshot });
  },
};

async function run(binary) {
  for (const id of [8453, 137, 42161]) chains.push(await startChain(id));
  facilitator = await startFacilitator(chains);
  adapter = startAdapter(binary, [facilitator.url, ...chains.map(({ id, url }) => `${id}=${url}`)]);
  const served = await adapter.ask({ do: "refresh" });
  for (const chain of chains) {
    const facilitatorAddress = served[chain.network]?.facilitator;
    assert.deepEqual(served[chain.network], { facilitator: who.facilitator.address, sponsoring: "offered" });
    for (const [name, test] of Object.entries(tests)) {
      await test(chain, { facilitatorAddress });
      console.log(`ok  ${chain.network}  ${name}`);
    }
  }
}

let code = 0;
try {
  await run(process.argv[2]);
} catch (error) {
  code = 1;
  console.error(error);
}
adapter?.stop();
facilitator?.stop();
for (const chain of chains) chain.stop();
process.exit(code);
