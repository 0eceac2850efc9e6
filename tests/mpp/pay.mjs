// Pays for cards with each official client, and counts every unit and every card.
//
//   PYTHON=... node main.mjs BINARY PROVIDER pay
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { decodePaymentResponseHeader } from "@x402/fetch";
import { Challenge } from "mppx";
import { card } from "../x402/buyer.mjs";
import { until } from "../x402/service.mjs";
import { PRICE, ask, credential, exact, heard, mppx, post, pympp, receipt } from "./payer.mjs";
import { startFixture } from "./fixture.mjs";

const PAYERS = 50;
const COPIES = 64;
/** At this speed ten minutes pass in a second. */
const HURRIED = 600;

describe("the official clients pay", () => {
  let fixture;
  before(async () => (fixture = await startFixture()));
  after(() => fixture?.close());

  const url = () => fixture.service.url;

  async function challenged(body) {
    const response = await ask(url(), body);
    assert.equal(response.status, 402);
    return response;
  }

  /** Exactly the price went from this payer to the seller, once, and one card was mailed for it. */
  function paidOnce({ moved, mailed }, account, answer) {
    assert.equal(answer.status, 200, JSON.stringify(answer.said));
    assert.equal(answer.said.status, "submitted");
    const { status, method, reference, chainId, challengeId } = receipt(answer.receipt);
    assert.deepEqual(moved, [{ from: account.address, amount: PRICE, transaction: reference }]);
    assert.deepEqual([status, method, chainId, mailed], ["success", "evm", 8453, 1]);
    return challengeId;
  }

  test("mppx pays to the last unit", async () => {
    const { account } = await fixture.newAccount();
    const counted = await fixture.during(async () => heard(await mppx(account).fetch(...post(url(), card()))));
    paidOnce(counted, account, counted.done);
    const order = await fixture.order(counted.done.said.id);
    assert.equal(order.payment.transaction, counted.moved[0].transaction, JSON.stringify(order));
    assert.equal(await fixture.chain.holds(account.address), 0n);
  });

  test("pympp pays to the last unit", async () => {
    const { account, key } = await fixture.newAccount();
    const counted = await fixture.during(() => pympp(url(), key, card()));
    paidOnce(counted, account, counted.done);
    assert.equal(await fixture.chain.holds(account.address), 0n);
  });

  test("a payload of x402's exact scheme pays, and has both receipts", async () => {
    const { account } = await fixture.newAccount();
    const body = card();
    const signature = await exact(fixture.chain.network, account, await challenged(body));
    let response;
    const counted = await fixture.during(async () => {
      const answer = await ask(url(), body, { "payment-signature": signature });
      response = answer.headers.get("payment-response");
      return heard(answer);
    });
    paidOnce(counted, account, counted.done);
    const { success, transaction, network } = decodePaymentResponseHeader(response);
    assert.deepEqual([success, transaction, network], [true, counted.moved[0].transaction, "eip155:8453"]);
    const { done, moved, mailed } = await fixture.during(async () => [
      await heard(await ask(url(), body, { "payment-signature": signature })),
      await heard(await ask(url(), card(), { "payment-signature": signature })),
    ]);
    const [again, other] = done;
    assert.deepEqual(again, counted.done);
    // No digest binds it to a body; the store has its order.
    assert.deepEqual([other.status, other.kind, other.receipt], [409, "verification-failed", null], JSON.stringify(other.said));
    assert.deepEqual([moved, mailed], [[], 0]);
  });

  test("a repeated credential gets the same answer, and pays for nothing else", async () => {
    const { account } = await fixture.newAccount(10n * PRICE);
    const body = card();
    const asked = await challenged(body);
    const authorization = await credential(account, asked);
    const counted = await fixture.during(async () => heard(await ask(url(), body, { authorization })));
    assert.equal(paidOnce(counted, account, counted.done), Challenge.fromResponse(asked).id);
    const { moved, mailed } = await fixture.during(async () => {
      for (const header of ["authorization", "payment-authorization", "payment-signature"]) {
        const again = await heard(await ask(url(), body, { [header]: authorization }));
        assert.deepEqual(again, counted.done, header);
      }
      const other = await heard(await ask(url(), card(), { authorization }));
      assert.deepEqual([other.status, other.kind, other.receipt], [402, "invalid-challenge", null]);
      // A client that starts over without the credential is not asked to pay.
      const over = await heard(await mppx(account).fetch(...post(url(), body)));
      assert.deepEqual([over.status, over.said], [200, counted.done.said]);
    });
    assert.deepEqual([moved, mailed], [[], 0]);
  });

  test("an invalid credential is refused and moves nothing", async () => {
    const { account } = await fixture.newAccount(10n * PRICE);
    const { account: beggar } = await fixture.newAccount(PRICE - 1n);
    const body = card();
    const { moved, mailed } = await fixture.during(async () => {
      const authorization = await credential(account, await challenged(body));
      const other = await heard(await ask(url(), card(), { authorization }));
      assert.deepEqual([other.status, other.kind], [402, "invalid-challenge"]);
      assert.match(other.challenge, /^Payment /);
      const two = await heard(await ask(url(), body, { authorization, "payment-authorization": authorization }));
      assert.deepEqual([two.status, two.kind, two.challenge], [400, "bad-request", null]);
      const signature = await exact(fixture.chain.network, account, await challenged(body));
      const both = await heard(await ask(url(), body, { authorization, "payment-signature": signature }));
      assert.deepEqual([both.status, both.kind, both.challenge], [400, "bad-request", null]);
      const poor = await heard(await ask(url(), body, { authorization: await credential(beggar, await challenged(body)) }));
      assert.deepEqual([poor.status, poor.kind], [402, "verification-failed"]);
    });
    assert.deepEqual([moved, mailed], [[], 0]);
  });

  test(`one credential sent ${COPIES} times at once pays once`, async () => {
    const { account } = await fixture.newAccount(10n * PRICE);
    const body = card();
    const authorization = await credential(account, await challenged(body));
    const counted = await fixture.during(() => Promise.all(Array.from({ length: COPIES }, async () => heard(await ask(url(), body, { authorization })))));
    const good = counted.done.filter(({ status }) => status === 200);
    assert.deepEqual(counted.done.filter(({ status }) => ![200, 409, 503].includes(status)), []);
    assert.equal(new Set(good.map(answer => answer.receipt)).size, 1);
    paidOnce(counted, account, good[0]);
    console.log(`  ${good.length} of ${COPIES} copies had the one receipt`);
  });

  test(`${PAYERS} concurrent payers all pay and get their cards`, async () => {
    const payers = [];
    for (let number = 0; number < PAYERS; number += 1) payers.push(await fixture.newAccount());
    const begun = Date.now();
    const counted = await fixture.during(() => Promise.all(payers.map(async ({ account }) => heard(await mppx(account).fetch(...post(url(), card()))))));
    console.log(`  ${PAYERS} payments took ${Date.now() - begun} ms`);
    assert.deepEqual(counted.done.filter(({ status }) => status !== 200), []);
    assert.equal(new Set(counted.done.map(({ said }) => said.id)).size, PAYERS);
    const paid = new Map(counted.moved.map(({ from, amount, transaction }) => [from, { amount, transaction }]));
    assert.deepEqual([counted.moved.length, paid.size, counted.mailed], [PAYERS, PAYERS, PAYERS]);
    for (const [at, { account }] of payers.entries()) {
      assert.deepEqual(paid.get(account.address), { amount: PRICE, transaction: receipt(counted.done[at].receipt).reference });
    }
  });

  // The last test, because it speeds up the service's clock.
  test("an expired challenge moves nothing and is answered with a new one", async () => {
    const { account } = await fixture.newAccount();
    const body = card();
    const asked = await challenged(body);
    const authorization = await credential(account, asked);
    const end = Date.parse(Challenge.fromResponse(asked).expires);
    const lasts = end - Date.now();
    await fixture.reopen({ speed: HURRIED });
    const now = async () => Date.parse(Challenge.fromResponse(await ask(url(), card())).expires) - lasts;
    await until("the challenge has run out", async () => (await now()) > end + lasts);
    const { done, moved, mailed } = await fixture.during(async () => heard(await ask(url(), body, { authorization })));
    assert.deepEqual([done.status, done.kind], [402, "payment-expired"]);
    assert.match(done.challenge, /^Payment /);
    assert.deepEqual([moved, mailed], [[], 0]);
  });
});
