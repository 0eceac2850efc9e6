// Which states the orders in the store had when the process died.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const UNFINISHED = "SELECT state, count(*) AS count FROM orders WHERE state <> 'mailed' GROUP BY state";
const mailed = ids => `SELECT 'mailed' AS state, count(*) AS count FROM orders WHERE state = 'mailed' AND id IN (${ids.map(id => `'${id}'`).join(", ") || "NULL"})`;

function readSqlite({ services: [{ folder }] }, query) {
  const store = new DatabaseSync(join(folder, "data/pennyblack.sqlite3"), { readOnly: true });
  try {
    return store.prepare(query).all().map(({ state, count }) => [state, Number(count)]);
  } finally {
    store.close();
  }
}

function readPostgres({ database }, query) {
  const printed = execFileSync("psql", [database.url, "--quiet", "--no-psqlrc", "--tuples-only", "--no-align", "--command", query], { encoding: "utf8" });
  return printed.trim().split("\n").filter(Boolean).map(line => line.split("|")).map(([state, count]) => [state, Number(count)]);
}

/** How many orders are in each state: all that are not finished, and the finished ones whose payer has no answer yet. */
export function readStates(stack, waiting) {
  const read = stack.database ? readPostgres : readSqlite;
  const rows = read(stack, `${UNFINISHED} UNION ALL ${mailed(waiting.map(({ id }) => id).filter(Boolean))}`);
  return Object.fromEntries(rows.filter(([, count]) => count > 0));
}
