// Both rails at once for one card: the official clients of x402 and MPP race, and the card is charged once.
//
//   ROUNDS=15 node main.mjs BINARY PROVIDER rails
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { wrapFetchWithPayment } from "@x402/fetch";
import * as x402 from "../x402/buyer.mjs";
import { who } from "../x402/chains.mjs";
import { until } from "../x402/service.mjs";
import { PRICE, mppx, post } from "./payer.mjs";
import { startFixture } from "./fixture.mjs";

const rounds = Number(process.env.ROUNDS ?? 15);
const APART_MILLISECONDS = 40;

describe("x402 and MPP at once", () => {
  let fixture;
  before(async () => {
    fixture = await startFixture();
    for (const role of ["payer", "newcomer"]) await fixture.chain.fund(who[role].address, BigInt(rounds) * PRICE);
  });
  after(() => fixture?.close());

  const pause = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));
  const byChance = () => pause(APART_MILLISECONDS * Math.random());

  /** A barrier: opens once all payers have signed, or were answered without having to pay. */
  function meeting(size) {
    let missing = size;
    let open;
    const all = new Promise(resolve => (open = resolve));
    const come = () => {
      missing -= 1;
      if (missing === 0) open();
    };
    return { come, all };
  }

  /** A fetch that counts signed payments, holds the first until the barrier opens, and then waits a random time. */
  function held(place) {
    let signed = 0;
    let hasCome = false;
    const come = () => {
      if (!hasCome) place?.come();
      hasCome = true;
    };
    const through = async (input, init) => {
      const request = new Request(input, init);
      if (request.headers.has("authorization") || request.headers.has("payment-signature")) {
        signed += 1;
        come();
        await place?.all;
      }
      await byChance();
      return fetch(request);
    };
    return { through, come, signed: () => signed };
  }

  /** Repeats the request until it is answered 200. */
  async function insist(name, buy, come) {
    const answers = [];
    await until(`${name} has the card`, async () => {
      const response = await buy();
      come();
      answers.push({ status: response.status, receipt: response.headers.get("payment-receipt") ?? response.headers.get("payment-response"), said: await response.json() });
      return response.status === 200;
    });
    return answers;
  }

  /** In every second round both payers have signed before either of them sends. */
  async function race(round) {
    const body = x402.card();
    const place = round % 2 === 0 ? meeting(2) : null;
    const [one, other] = [held(place), held(place)];
    const byX402 = wrapFetchWithPayment(one.through, x402.wallet(fixture.chain.network, who.payer));
    const byMpp = mppx(who.newcomer, other.through);
    const [paidX402, paidMpp] = await Promise.all([
      insist("x402", () => byX402(...x402.post(fixture.service.url, body)), one.come),
      insist("MPP", () => byMpp.fetch(...post(fixture.service.url, body)), other.come),
    ]);
    return { answers: [...paidX402, ...paidMpp], contested: one.signed() > 0 && other.signed() > 0, signed: [one.signed(), other.signed()] };
  }

  test(`${rounds} rounds of x402 and MPP at once: one charge and one card in each`, async () => {
    const tally = { x402: 0, mpp: 0, contested: 0, statuses: {} };
    for (let round = 0; round < rounds; round += 1) {
      const { done, moved, mailed } = await fixture.during(() => race(round));
      assert.deepEqual([moved.length, mailed], [1, 1], JSON.stringify({ round, done }));
      const good = done.answers.filter(({ status }) => status === 200);
      assert.equal(new Set(good.map(({ said }) => said.id)).size, 1);
      assert.equal(good.filter(({ receipt }) => receipt).length, 1, JSON.stringify({ round, done }));
      const isMpp = moved[0].from === who.newcomer.address;
      if (isMpp) assert.equal(moved[0].amount, PRICE);
      tally[isMpp ? "mpp" : "x402"] += 1;
      tally.contested += done.contested ? 1 : 0;
      for (const { status } of done.answers) tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
    }
    console.log(`  ${JSON.stringify(tally)}`);
    assert.ok(tally.contested > 0, "no round had two signed payments");
  });
});
