// What must be in the store after a power loss: each answer 200, and the intent before each effect on chain or at the provider.
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseAbiItem } from "viem";
import { USDC } from "../x402/chains.mjs";

const TRANSFER = parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)");
/** States in which no settlement has begun. */
const UNPAID = new Set(["offered", "lapsed"]);
/** States in which a card may be with the provider. */
const isSubmitted = state => state === "submitting" || state === "mailed" || state === "refunded" || state.startsWith("unfulfilled");
/** Answers and states of a card that the provider has, as far as the service knows. */
const SUBMITTED_ANSWERS = new Set(["submitted", "mailed", "delivered"]);
const SUBMITTED_STATES = new Set(["mailed", "unfulfilled_undelivered", "refunded"]);
const ROWS = "SELECT id, state, payer, settled_transaction FROM orders";

/** The rows of a SQLite database that no process has open, from a copy, so that the disk stays as the power loss left it. */
export function readCopy(file) {
  const copy = mkdtempSync(join(tmpdir(), "pennyblack-copy-"));
  try {
    if (!existsSync(file)) return [];
    for (const end of ["", "-wal"]) if (existsSync(file + end)) copyFileSync(file + end, join(copy, `store${end}`));
    return readSqlite(join(copy, "store"));
  } finally {
    rmSync(copy, { recursive: true });
  }
}

export function readSqlite(file) {
  const store = new DatabaseSync(file);
  try {
    const [{ quick_check: found }] = store.prepare("PRAGMA quick_check").all();
    if (found !== "ok") throw new Error(`SQLite says that the store is damaged: ${found}`);
    const isThere = store.prepare("SELECT count(*) AS count FROM sqlite_master WHERE name = 'orders'").get().count === 1;
    return isThere ? store.prepare(ROWS).all() : [];
  } finally {
    store.close();
  }
}

export function readPostgres({ query }) {
  const [isThere] = query("SELECT to_regclass('orders') IS NOT NULL").trim();
  if (isThere !== "t") return [];
  const lines = query(ROWS).split("\n").filter(Boolean);
  return lines.map(line => line.split("|")).map(([id, state, payer, transaction]) => ({ id, state, payer, settled_transaction: transaction }));
}

/** Compares orders, chain and provider with the store after each power loss; effects are read before the store. */
export function createCheck({ chain, provider }, orders) {
  const transfers = [];
  let seen = -1n;
  const readTransfers = async () => {
    const last = await chain.reader.getBlockNumber();
    if (last > seen) transfers.push(...(await chain.reader.getLogs({ address: USDC[chain.id], event: TRANSFER, args: { to: orders[0].payTo }, fromBlock: seen + 1n, toBlock: last })));
    seen = last;
  };
  const figures = { answers: 0, transfers: 0, cards: 0 };
  const check = async readRows => {
    if (orders.length === 0) {
      readRows();
      return [];
    }
    const answered = orders.filter(({ outcome }) => outcome === "paid");
    await readTransfers();
    const report = await provider.report([]);
    const rows = readRows();
    const byPayer = new Map(rows.map(row => [row.payer?.toLowerCase(), row]));
    const found = [];
    const rowOf = ({ account }) => byPayer.get(account.address.toLowerCase());
    for (const order of answered) {
      const row = rowOf(order);
      const isThere = row?.settled_transaction && (!SUBMITTED_ANSWERS.has(order.fulfilment) || SUBMITTED_STATES.has(row.state));
      if (!isThere) found.push(`order ${order.number} (${order.rail}, ${order.id}) was answered 200 ${order.fulfilment}, and its row is ${describe(row)}`);
    }
    for (const { args, transactionHash } of transfers) {
      const row = byPayer.get(args.from.toLowerCase());
      if (!row || UNPAID.has(row.state)) found.push(`${transactionHash} moved money, and the row of its order is ${describe(row)}`);
    }
    const submitted = rows.filter(({ state }) => isSubmitted(state));
    if (report.accepted > submitted.length) found.push(`the provider has ${report.accepted} cards, and ${submitted.length} orders in the store were submitted`);
    const doubled = Object.keys(report.duplicates);
    if (doubled.length > 0) found.push(`the provider has two cards for ${doubled.join(", ")}`);
    Object.assign(figures, { answers: answered.length, transfers: transfers.length, cards: report.accepted });
    return found;
  };
  return { check, figures };
}

const describe = row => (row ? `in the state ${row.state}` : "missing");
