// After the faults: waits until all orders are at rest, and asks for each of them once more.
import { AT_REST } from "./audit.mjs";
import { X402, say } from "./payers.mjs";
import { until } from "./service.mjs";

const AT_ONCE = 16;

/** Does something for each of these, several at once. */
async function each(wishes, act) {
  for (let from = 0; from < wishes.length; from += AT_ONCE) await Promise.all(wishes.slice(from, from + AT_ONCE).map(act));
}

/** Payers that never got an answer do not know the id of their order. */
async function findId(url, wish) {
  wish.id = wish.said.map(({ id }) => id).find(Boolean);
  if (!wish.id) wish.id = await until(`order ${wish.number} has an id`, async () => (await say(url, wish)).id);
}

/** The status of every order, once all are at rest or the time is over. `url` is the service. */
export async function waitForRest(url, wishes, { chains, seconds, line }) {
  await each(wishes, wish => findId(url, wish));
  const statuses = new Map();
  const read = async wish => statuses.set(wish, await (await fetch(`${url}/api/x402/orders/${wish.id}`)).json());
  const look = async () => {
    await each(wishes.filter(wish => !AT_REST.has(statuses.get(wish)?.status)), read);
    for (const chain of chains) await chain.hand.mine({ blocks: 1 });
    return wishes.every(wish => AT_REST.has(statuses.get(wish).status));
  };
  await until("all orders are at rest", look, seconds).catch(error => line(error.message));
  // An order that was unpaid a while ago may have been paid since.
  await each(wishes, read);
  for (const wish of wishes) wish.paid = Boolean(statuses.get(wish).payment);
  return statuses;
}

/** Requests every order without a credential: 200 if it is paid, for x402 without a receipt, else 402. */
export async function askOnceMore(url, wishes, faults) {
  await each(wishes, async wish => {
    const { status, receipt } = await say(url, wish);
    const expected = wish.paid ? 200 : 402;
    if (status !== expected || (receipt && wish.rail === X402)) faults.push(`order ${wish.number} (${wish.id}): ${status} in the end, not ${expected}`);
  });
}
