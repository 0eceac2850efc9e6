// Compares what moved on chain, what the provider accepted and what the service says of its orders, to the unit.
import { parseAbiItem } from "viem";
import { AT_REST } from "../x402/audit.mjs";
import { USDC } from "../x402/chains.mjs";
import { until } from "../x402/service.mjs";
import { PRICES } from "./payers.mjs";

const TRANSFER = parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)");
const STATUS_AT_ONCE = 32;

/** Every payment to the seller so far. */
export async function transfers(chain, payee) {
  const logs = await chain.reader.getLogs({ address: USDC[chain.id], event: TRANSFER, args: { to: payee }, fromBlock: 0n });
  return logs.map(({ args, transactionHash, blockNumber }) => ({ from: args.from, amount: args.value, transaction: transactionHash, block: blockNumber }));
}

/** What the status endpoint says of these orders. */
async function readStatuses(url, orders) {
  const statuses = new Map();
  for (let from = 0; from < orders.length; from += STATUS_AT_ONCE) {
    const some = orders.slice(from, from + STATUS_AT_ONCE);
    const answers = await Promise.all(some.map(async ({ id }) => (id ? (await fetch(`${url}/api/x402/orders/${id}`)).json() : {})));
    some.forEach((order, at) => statuses.set(order, answers[at]));
  }
  return statuses;
}

/** Waits until no order is in between, or the time is over; the answer is what was read last. */
async function waitForRest(url, orders, seconds) {
  const statuses = new Map();
  const look = async () => {
    const moving = orders.filter(order => !AT_REST.has(statuses.get(order)?.status));
    for (const [order, status] of await readStatuses(url, moving)) statuses.set(order, status);
    return orders.every(order => AT_REST.has(statuses.get(order).status));
  };
  let isAtRest = true;
  await until("all orders are at rest", look, seconds).catch(() => (isAtRest = false));
  return { isAtRest, statuses: await readStatuses(url, orders), at: Date.now() };
}

/** The figures, and what does not agree in words. Orders have had their last answer. */
export async function compare({ chain, provider, services }, orders, restSeconds) {
  const rest = await waitForRest(services[0].url, orders, restSeconds);
  const moved = await transfers(chain, orders[0].payTo);
  const byTransaction = new Map(moved.map(transfer => [transfer.transaction, transfer]));
  const disagreements = [];
  const lost = new Set();
  let stored = 0;
  let storedUnits = 0n;
  for (const order of orders) {
    const { payment, status } = rest.statuses.get(order);
    order.status = status;
    order.transfer = payment ? byTransaction.get(payment.transaction) : undefined;
    if (payment) {
      stored += 1;
      storedUnits += BigInt(payment.amount);
      const paid = order.transfer;
      if (!paid) lost.add(order);
      else if (paid.from !== order.account.address || paid.amount !== PRICES[order.rail] || BigInt(payment.amount) !== paid.amount) {
        disagreements.push(`order ${order.number}: ${paid.amount} units from ${paid.from} on chain, ${payment.amount} in the store, and it costs ${PRICES[order.rail]}`);
      }
    } else if (order.outcome === "paid") lost.add(order);
  }
  const settled = orders.filter(({ transfer }) => transfer);
  const report = await provider.report(settled.map(({ id }) => id));
  for (const order of settled) if (report.missing.includes(order.id)) lost.add(order);
  const units = moved.reduce((sum, { amount }) => sum + amount, 0n);
  const doubled = moved.length - settled.length + report.orphans.length + Object.keys(report.duplicates).length;
  if (units !== storedUnits) disagreements.push(`${units} units moved on chain, and the store has ${storedUnits}`);
  const agree = moved.length === stored && report.accepted === stored && disagreements.length === 0;
  const audit = `${moved.length} transfers of ${units} units, ${report.accepted} provider orders, ${stored} paid orders in the store of ${storedUnits} units: ${agree ? "equal" : "NOT EQUAL"}`;
  if (!agree) disagreements.unshift(audit);
  return { audit, disagreements, lost: lost.size, doubled, rest, transfers: moved.length };
}
