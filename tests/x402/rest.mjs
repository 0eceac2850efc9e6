// After the faults: waits until all orders are at rest, and asks for each of them once more.
import { AT_REST } from "./audit.mjs";
import { X402, say } from "./payers.mjs";
import { until } from "./service.mjs";

/** Payers that never got an answer do not know the id of their order. */
async function findIds(url, wishes) {
  for (const wish of wishes) {
    wish.id = wish.said.map(({ id }) => id).find(Boolean);
    if (!wish.id) wish.id = await until(`order ${wish.number} has an id`, async () => (await say(url, wish)).id);
  }
}

/** The status of every order, once all are at rest or the time is over. `url` is the service. */
export async function waitForRest(url, wishes, { chains, seconds, line }) {
  await findIds(url, wishes);
  const statuses = new Map();
  const read = async wish => statuses.set(wish, await (await fetch(`${url}/api/x402/orders/${wish.id}`)).json());
  const look = async () => {
    for (const wish of wishes) if (!AT_REST.has(statuses.get(wish)?.status)) await read(wish);
    for (const chain of chains) await chain.hand.mine({ blocks: 1 });
    return wishes.every(wish => AT_REST.has(statuses.get(wish).status));
  };
  await until("all orders are at rest", look, seconds).catch(error => line(error.message));
  // An order that was unpaid a while ago may have been paid since.
  for (const wish of wishes) await read(wish);
  for (const wish of wishes) wish.paid = Boolean(statuses.get(wish).payment);
  return statuses;
}

/** Requests every order without a credential: 200 if it is paid, for x402 without a receipt, else 402. */
export async function askOnceMore(url, wishes, faults) {
  for (const wish of wishes) {
    const { status, receipt } = await say(url, wish);
    const expected = wish.paid ? 200 : 402;
    if (status !== expected || (receipt && wish.rail === X402)) faults.push(`order ${wish.number} (${wish.id}): ${status} in the end, not ${expected}`);
  }
}
