// Compares what moved on chain, what the provider accepted and what the service says of its orders, to the unit.
import { parseAbiItem } from "viem";
import { AT_REST } from "../x402/audit.mjs";
import { USDC } from "../x402/chains.mjs";
import { until } from "../x402/service.mjs";
import { PRICES } from "./payers.mjs";

const TRANSFER = parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)");
const READ_AT_ONCE = 32;
/** The answer about all blocks of a long run is larger than a client accepts. */
const BLOCKS_AT_ONCE = 2_000n;
/** A card that is paid for and not yet with the provider, as far as the service knows. */
const OWED = new Set(["paid", "fulfillment_needs_reconciliation"]);

/** What earlier comparisons of the same stack have read, so that the next one reads only what is new. */
export const newLedger = () => ({ moved: [], next: 0n, paid: new Map() });

/** Every payment to the seller so far, with the order whose authorization it spent. */
async function readTransfers(chain, orders, ledger) {
  const last = await chain.reader.getBlockNumber({ cacheTime: 0 });
  const logs = [];
  for (; ledger.next <= last; ledger.next += BLOCKS_AT_ONCE) {
    const toBlock = ledger.next + BLOCKS_AT_ONCE - 1n;
    logs.push(...(await chain.reader.getLogs({ address: USDC[chain.id], event: TRANSFER, args: { to: orders[0].payTo }, fromBlock: ledger.next, toBlock: toBlock < last ? toBlock : last })));
  }
  ledger.next = last + 1n;
  const inputs = new Map();
  const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))];
  for (let from = 0; from < hashes.length; from += READ_AT_ONCE) {
    const found = await Promise.all(hashes.slice(from, from + READ_AT_ONCE).map(hash => chain.reader.getTransaction({ hash })));
    for (const { hash, input } of found) inputs.set(hash, input);
  }
  const byPayer = Map.groupBy(orders, ({ account }) => account.address);
  for (const { args, transactionHash, blockNumber } of logs) {
    const input = inputs.get(transactionHash);
    const order = byPayer.get(args.from)?.find(({ nonce }) => input.includes(nonce.slice(2).toLowerCase()));
    ledger.moved.push({ order, amount: args.value, transaction: transactionHash, block: blockNumber });
  }
  return ledger.moved;
}

/** What the status endpoint says of these orders. */
async function readStatuses(url, orders) {
  const statuses = new Map();
  for (let from = 0; from < orders.length; from += READ_AT_ONCE) {
    const some = orders.slice(from, from + READ_AT_ONCE);
    const answers = await Promise.all(some.map(async ({ id }) => (id ? (await fetch(`${url}/api/x402/orders/${id}`)).json() : {})));
    some.forEach((order, at) => statuses.set(order, answers[at]));
  }
  return statuses;
}

/** Waits until no order is in between, or the time is over; the answer is what was read last. */
async function waitForRest(url, orders, seconds, { paid }) {
  const statuses = new Map(paid);
  let looks = 0;
  const look = async () => {
    looks += 1;
    const moving = orders.filter(order => !AT_REST.has(statuses.get(order)?.status));
    for (const [order, status] of await readStatuses(url, moving)) statuses.set(order, status);
    return orders.every(order => AT_REST.has(statuses.get(order).status));
  };
  let isAtRest = true;
  await until("all orders are at rest", look, seconds).catch(() => (isAtRest = false));
  const at = Date.now();
  // An order that was unpaid a while ago may have been paid since; one that is paid and at rest stays so.
  for (const [order, status] of await readStatuses(url, orders.filter(order => !paid.has(order)))) {
    statuses.set(order, status);
    if (status.payment && AT_REST.has(status.status)) paid.set(order, status);
  }
  return { isAtRest, wasAtRest: isAtRest && looks === 1, at, statuses };
}

/**
 * Money without a card, or a card without money. An order that is still in between is unfinished, and one whose status
 * says that its card is owed is answered 200 and not lost.
 */
function isLost({ outcome, status, isStored, transfer, id }, missing) {
  if (!transfer) return outcome === "paid" || isStored;
  return outcome === "refused" || status === "unpaid" || (outcome === "paid" && missing.has(id) && !OWED.has(status));
}

/**
 * Kills the service once its orders are at rest, and answers the figures and what does not agree in words. Doubled are
 * transfers and cards beyond one for each order.
 */
export async function compare({ chain, provider, services }, orders, restSeconds, prices = PRICES, ledger = newLedger()) {
  const rest = await waitForRest(services[0].url, orders, restSeconds, ledger);
  // Orders that are not at rest would continue while we count.
  for (const service of services) await service.kill();
  const moved = await readTransfers(chain, orders, ledger);
  const disagreements = [];
  let stored = 0;
  let storedUnits = 0n;
  for (const { order, amount, transaction, block } of moved) {
    if (order) order.transfer ??= { transaction, block };
    if (!order) disagreements.push(`${transaction} moved ${amount} units for no order`);
    else if (prices && amount !== prices[order.rail]) disagreements.push(`order ${order.number}: ${amount} units moved, and it costs ${prices[order.rail]}`);
  }
  for (const order of orders) {
    const { payment, status } = rest.statuses.get(order);
    order.status = status;
    order.isStored = Boolean(payment);
    if (!payment) continue;
    stored += 1;
    storedUnits += BigInt(payment.amount);
    if (order.transfer && order.transfer.transaction !== payment.transaction) disagreements.push(`order ${order.number}: paid by ${order.transfer.transaction}, and the store has ${payment.transaction}`);
  }
  const settled = orders.filter(({ transfer }) => transfer);
  const report = await provider.report(settled.map(({ id }) => id));
  const missing = new Set(report.missing);
  const lost = orders.filter(order => isLost(order, missing));
  const copies = Object.values(report.duplicates).reduce((sum, ids) => sum + ids.length - 1, 0);
  const doubled = moved.length - settled.length + copies;
  const unpaidCards = report.accepted - copies - (settled.length - report.missing.length);
  const units = moved.reduce((sum, { amount }) => sum + amount, 0n);
  if (unpaidCards > 0) disagreements.push(`${unpaidCards} cards at the provider without a transfer`);
  // A process that dies while it submits a card leaves it to the reconciler, which waits for the provider's answer to be certain.
  const owed = settled.filter(({ id, status }) => missing.has(id) && OWED.has(status)).length;
  const isEqual = moved.length === stored && report.accepted + owed === stored && units === storedUnits;
  const audit = `${moved.length} transfers of ${units} units, ${report.accepted} provider orders, ${owed} cards owed, ${stored} paid orders of ${storedUnits} units in the store: ${isEqual ? "equal" : "NOT EQUAL"}`;
  if (!isEqual) disagreements.unshift(audit);
  return { audit, disagreements, lost: lost.length, doubled, owed, rest };
}
