// The audit after tests with faults: chain, provider and orders must agree, to the unit.
import { DatabaseSync } from "node:sqlite";
import { decodeFunctionData, parseAbi, parseAbiItem, toHex } from "viem";
import { USDC } from "./chains.mjs";
import { X402 } from "./payers.mjs";

const TRANSFER = parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)");
/** The calls that settle x402 payments, and the one that settles MPP payments. */
const SETTLEMENTS = parseAbi([
  "struct TokenPermissions { address token; uint256 amount; }",
  "struct Permit { TokenPermissions permitted; uint256 nonce; uint256 deadline; }",
  "struct Witness { address to; address facilitator; uint256 validAfter; }",
  "struct Permit2612 { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }",
  "function settle(Permit permit, uint256 amount, address owner, Witness witness, bytes signature)",
  "function settleWithPermit(Permit2612 permit2612, Permit permit, uint256 amount, address owner, Witness witness, bytes signature)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
]);
/** The columns of the stored orders that are compared with the chains. */
export const STORED_ORDERS = 'SELECT state, settled_transaction AS "transaction", settled_atomic AS amount FROM orders';
const NONCE = {
  settle: ([permit]) => toHex(permit.nonce, { size: 32 }),
  settleWithPermit: ([, permit]) => toHex(permit.nonce, { size: 32 }),
  transferWithAuthorization: ([, , , , , nonce]) => nonce,
};
/** Public statuses of finished orders. */
const PAID = new Set(["submitted", "mailed", "delivered"]);
export const AT_REST = new Set([...PAID, "unpaid"]);

/** Records between which two moments each block of a chain appeared. */
export function watch(chain) {
  const blocks = new Map();
  let last = 0n;
  let before = Date.now();
  const look = async () => {
    const asked = Date.now();
    const now = await chain.reader.getBlockNumber();
    for (; last < now; last += 1n) blocks.set(last + 1n, { after: before, by: Date.now() });
    before = asked;
  };
  let looking = look();
  const timer = setInterval(() => (looking = looking.then(look).catch(() => {})), 100);
  return { blocks, stop: async () => (clearInterval(timer), looking.then(look)) };
}

/** Every transfer to the seller, with the nonce of the authorization that it spent. */
async function transfers(chain, payee, watched) {
  const logs = await chain.reader.getLogs({ address: USDC[chain.id], event: TRANSFER, args: { to: payee }, fromBlock: 0n });
  return Promise.all(
    logs.map(async ({ args, transactionHash, blockNumber }) => {
      const { input } = await chain.reader.getTransaction({ hash: transactionHash });
      const { functionName, args: words } = decodeFunctionData({ abi: SETTLEMENTS, data: input });
      const nonce = NONCE[functionName](words);
      return { chain, transaction: transactionHash, amount: args.value, nonce, ...watched.blocks.get(blockNumber) };
    }),
  );
}

/**
 * 402 answers for orders that were paid or in doubt, by our clock: a request is later than a block only if it was sent
 * after we saw the block, and an authorization is in doubt only if every answer to it arrived before the request was
 * sent.
 */
function invitations(wish, moved) {
  const found = [];
  for (const invited of wish.said.filter(({ status }) => status === 402)) {
    for (const { nonce, after, by, transaction } of moved) {
      const presented = wish.said.filter(one => one.nonce === nonce);
      const allHeard = presented.every(({ answered }) => answered !== null && answered < invited.sent);
      if (by < invited.sent) found.push(`402 after the money had moved in ${transaction}`);
      else if (allHeard && after > invited.answered) found.push(`402 while an authorization was in doubt that settled later in ${transaction}`);
    }
  }
  return found;
}

/** The orders in an SQLite store. */
export function readOrders(file) {
  const store = new DatabaseSync(file, { readOnly: true });
  const rows = store.prepare(STORED_ORDERS).all();
  store.close();
  return rows;
}

/** x402 has one receipt, in the answer that tells of the payment. MPP repeats the same bytes. */
function checkReceipts({ said, rail }, complain) {
  const receipts = said.filter(({ receipt, status }) => receipt && status === 200).map(({ receipt }) => receipt);
  if ((rail === X402 ? receipts.length : new Set(receipts).size) > 1) complain("more than one receipt");
}

/** Everything that does not agree, as sentences, and the figures. `stored` has the rows of STORED_ORDERS. */
export async function audit({ wishes, chains, watches, payee, statuses, report, stored }) {
  const faults = [];
  const demand = (holds, ...words) => holds || faults.push(words.join(" "));
  const owners = new Map(wishes.flatMap(wish => wish.credentials.map(({ nonce }) => [`${wish.chain.id} ${nonce}`, wish])));
  const moved = (await Promise.all(chains.map((chain, at) => transfers(chain, payee, watches[at])))).flat();
  const byWish = new Map(wishes.map(wish => [wish, []]));
  for (const transfer of moved) {
    const wish = owners.get(`${transfer.chain.id} ${transfer.nonce}`);
    if (wish) byWish.get(wish).push(transfer);
    else faults.push(`${transfer.transaction} moved money for no order`);
  }
  for (const [wish, its] of byWish) {
    const words = `order ${wish.number} (${wish.id}):`;
    const order = statuses.get(wish);
    demand(its.length <= 1, words, `charged ${its.length} times`);
    demand(AT_REST.has(order.status), words, `still ${order.status}`);
    demand((its.length === 1) === PAID.has(order.status), words, `${its.length} transfers, and its status is ${order.status}`);
    for (const { amount, transaction } of its) {
      demand(amount === wish.price, words, `charged ${amount}, and it costs ${wish.price}`);
      demand(order.payment?.amount === String(amount) && order.payment?.transaction === transaction, words, `tells another payment than ${transaction}: ${JSON.stringify(order.payment)}`);
    }
    demand(new Set(wish.said.map(({ id }) => id).filter(Boolean)).size <= 1, words, "has more than one id");
    checkReceipts(wish, text => faults.push(`${words} ${text}`));
    for (const invitation of invitations(wish, its)) faults.push(`${words} ${invitation}`);
  }
  for (const chain of chains) {
    const sum = moved.filter(one => one.chain === chain).reduce((all, { amount }) => all + amount, 0n);
    demand((await chain.holds(payee)) === sum, chain.network, "the seller's balance differs from the sum of the transfers");
  }
  compareWithStore(stored, moved, demand);
  const paid = [...byWish.values()].filter(its => its.length > 0).length;
  demand(report.accepted === paid && report.live === paid, `${paid} orders are paid, and the provider has ${report.accepted} cards, ${report.live} of them live`);
  for (const [what, found] of Object.entries({ duplicates: Object.keys(report.duplicates), orphans: report.orphans, missing: report.missing })) {
    demand(found.length === 0, `cards, ${what}:`, found.slice(0, 3).join(", "));
  }
  const units = moved.reduce((all, { amount }) => all + amount, 0n);
  return { faults, paid, unpaid: wishes.length - paid, transfers: moved.length, units };
}

/** Compares the stored orders with the transfers. */
function compareWithStore(rows, moved, demand) {
  const settled = new Map(rows.filter(({ transaction }) => transaction).map(row => [row.transaction, row]));
  for (const { state } of rows) demand(state === "offered" || state === "mailed", "an order in the store has the state", state);
  demand(settled.size === moved.length, `the store knows ${settled.size} payments, and the chains ${moved.length}`);
  for (const { transaction, amount } of moved) demand(BigInt(settled.get(transaction)?.amount ?? 0) === amount, "the store has another amount for", transaction);
}
