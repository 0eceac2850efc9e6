// Payments with lost answers: the node's answer to the transaction is lost, or the payer's answer is.
//
//   node main.mjs BINARY PROVIDER lost_answers
import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { card } from "../x402/buyer.mjs";
import { until } from "../x402/service.mjs";
import { startLossyProxy } from "./lossy_proxy.mjs";
import { PRICE, ask, credential, heard, mppx, post } from "./payer.mjs";
import { startFixture } from "./fixture.mjs";

/** The speed of the service's clock, so that minutes pass in seconds. */
const SPEED = 20;
/** How many calls are cut off, starting with the answer to the transaction; the last case until calm() is called. */
const SILENCES = [1, 2, 4, Infinity];

describe("answers are lost", () => {
  let fixture;
  before(async () => (fixture = await startFixture({ between: startLossyProxy, sandbox: { speed: SPEED } })));
  after(() => fixture?.close());
  afterEach(() => fixture.proxy.calm());

  /** The official client, with a record of statuses and signatures. */
  function watched(account) {
    const told = [];
    let signed = 0;
    const client = mppx(account, async (...words) => {
      const sent = new Headers(words[1]?.headers ?? words[0].headers);
      signed += sent.has("authorization") ? 1 : 0;
      const answer = await fetch(...words);
      told.push(answer.status);
      return answer;
    });
    return { told, signed: () => signed, buy: async body => heard(await client.fetch(...post(fixture.service.url, body))) };
  }

  for (const calls of SILENCES) {
    test(`a transaction whose answer is lost, with ${calls} calls cut off, is one charge`, async () => {
      const { account } = await fixture.newAccount(10n * PRICE);
      const payer = watched(account);
      const body = card();
      let first;
      const counted = await fixture.during(async () => {
        fixture.proxy.cut(calls);
        first = await payer.buy(body);
        // A client that knows nothing of the first attempt starts over repeatedly.
        for (let turn = 0; calls === Infinity && turn < 5; turn += 1) await payer.buy(body);
        if (calls === Infinity) {
          const doubtful = await heard(await ask(fixture.service.url, body));
          assert.deepEqual([doubtful.status, doubtful.challenge], [409, null], JSON.stringify(doubtful.said));
        }
        fixture.proxy.calm();
        return until("the card is paid for", async () => {
          const answer = await payer.buy(body);
          return answer.status === 200 && answer;
        });
      });
      console.log(`  ${calls} calls cut off: the client was told ${payer.told.join(", ")}`);
      assert.ok(fixture.proxy.hits() >= 1, "nothing was cut off");
      assert.deepEqual([payer.told[0], payer.signed()], [402, 1]);
      assert.equal(payer.told.filter(status => status === 402).length, 1, payer.told.join());
      assert.equal(first.status, calls === Infinity ? 502 : 200, JSON.stringify(first.said));
      assert.deepEqual(counted.moved.map(({ from, amount }) => [from, amount]), [[account.address, PRICE]]);
      assert.equal(counted.mailed, 1);
    });
  }

  test("the same credential is answered with its receipt once the doubt is over", async () => {
    const { account } = await fixture.newAccount(10n * PRICE);
    const body = card();
    const authorization = await credential(account, await ask(fixture.service.url, body));
    const counted = await fixture.during(async () => {
      fixture.proxy.cut(Infinity);
      const first = await heard(await ask(fixture.service.url, body, { authorization }));
      assert.deepEqual([first.status, first.challenge, first.receipt], [502, null, null], JSON.stringify(first.said));
      fixture.proxy.calm();
      return until("the card is paid for", async () => {
        const answer = await heard(await ask(fixture.service.url, body, { authorization }));
        assert.notEqual(answer.status, 402, JSON.stringify(answer.said));
        return answer.status === 200 && answer;
      });
    });
    assert.ok(counted.done.receipt);
    assert.deepEqual([counted.moved.length, counted.moved[0].amount, counted.mailed], [1, PRICE, 1]);
  });

  test("the reconciler alone ends the doubt", async () => {
    const { account } = await fixture.newAccount(10n * PRICE);
    const payer = watched(account);
    const body = card();
    const counted = await fixture.during(async () => {
      fixture.proxy.cut(Infinity);
      const { status, said } = await payer.buy(body);
      assert.equal(status, 502, JSON.stringify(said));
      fixture.proxy.calm();
      const { public_order_id: id } = said.error;
      await until("the reconciler has found it", async () => (await fixture.order(id)).status === "submitted");
      return payer.buy(body);
    });
    assert.deepEqual([counted.done.status, payer.signed(), counted.moved.length, counted.mailed], [200, 1, 1, 1]);
  });

  test("a payer who disconnects and starts over is not asked to pay again", async () => {
    const { account } = await fixture.newAccount(10n * PRICE);
    const payer = watched(account);
    const body = card();
    const authorization = await credential(account, await ask(fixture.service.url, body));
    const counted = await fixture.during(async () => {
      const before = (await fixture.transfers()).length;
      const leaving = new AbortController();
      const [address, request] = post(fixture.service.url, body, { authorization });
      const lost = fetch(address, { ...request, signal: leaving.signal }).then(answer => answer.arrayBuffer()).catch(() => undefined);
      await until("the money has moved", async () => (await fixture.transfers()).length > before);
      leaving.abort();
      await lost;
      return until("the card is there", async () => {
        const answer = await payer.buy(body);
        return answer.status === 200 && answer;
      });
    });
    assert.deepEqual([payer.signed(), counted.moved.length, counted.mailed], [0, 1, 1]);
  });
});
