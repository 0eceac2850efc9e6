// Payers who order cards by both rails without pause, and repeat each request until it is paid.
import { createAccounts, createOrder, payUntilSettled } from "../settlement/payers.mjs";

const ACCOUNTS_AT_ONCE = 100;
const PATIENCE_SECONDS = 600;
const PAUSE_MILLISECONDS = 20;
const RAILS = ["x402", "mpp"];

const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

/** Each order has an account of its own, by which its row and its transfer are found. */
export function startTraffic(stack, payers) {
  const orders = [];
  const spare = [];
  let isOver = false;
  let refilling = null;
  let tell = () => {};
  const nextAccount = async () => {
    while (spare.length === 0) {
      refilling ??= createAccounts(stack.chain, ACCOUNTS_AT_ONCE).then(made => {
        spare.push(...made);
        refilling = null;
      });
      await refilling;
    }
    return spare.pop();
  };
  /** A challenge has no effect, so it is asked for until there is one. */
  const next = async number => {
    const account = await nextAccount();
    while (!isOver) {
      if (stack.services[0].alive) {
        try {
          return await createOrder(stack, number, account, RAILS[number % RAILS.length]);
        } catch {
          // The service or its store is down.
        }
      }
      await sleep(PAUSE_MILLISECONDS);
    }
    return null;
  };
  const pay = async payer => {
    for (let turn = 0; !isOver; turn += 1) {
      const order = await next(turn + payer);
      if (!order) return;
      orders.push(order);
      await payUntilSettled(stack.services, order, Date.now() + 1_000 * PATIENCE_SECONDS);
      tell();
    }
  };
  const paying = Promise.all(Array.from({ length: payers }, (_, payer) => pay(payer)));
  /** No new orders; those that began are repeated until they are paid. */
  const finish = () => {
    isOver = true;
    return paying;
  };
  /** Resolves with the next answer 200. */
  const answered = () => new Promise(resolve => (tell = resolve));
  return { orders, finish, answered };
}
