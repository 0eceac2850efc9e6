// Many payers at once: how long until all have an answer, and whether all have paid.
import { compare } from "./compare.mjs";
import { createAccounts, createOrders, send } from "./payers.mjs";
import { setBlockTime, withStack } from "./stack.mjs";
import { count, percentile, seconds, startTable, words } from "./table.mjs";

const COLUMNS = ["rail", "blocks", "payers", "seconds", "p50", "p99", "200", "502", "audit", "other"];
const REST_SECONDS = 10;

async function measure(stack, { rail, blockTime, size }) {
  const accounts = await createAccounts(stack.chain, size);
  const orders = await createOrders(stack, accounts, [rail], size);
  await setBlockTime(stack.chain, blockTime);
  const begun = Date.now();
  await Promise.all(orders.map(order => send(stack.services[0].url, order)));
  const took = Date.now() - begun;
  const isAllPaid = orders.every(({ outcome }) => outcome === "paid");
  const { disagreements } = isAllPaid ? await compare(stack, orders, REST_SECONDS) : { disagreements: [] };
  return { took, orders, disagreements };
}

export async function concurrent(programs, { runs, sizes = [50, 200, 1_000], blockTimes = [0, 2] }) {
  const print = startTable("Many payers at once, each with one card; one process on SQLite", COLUMNS);
  const missed = [];
  const rows = ["x402", "mpp"].flatMap(rail => blockTimes.flatMap(blockTime => sizes.map(size => ({ rail, blockTime, size }))));
  for (const row of rows) {
    for (let run = 1; run <= runs; run += 1) {
      const { took, orders, disagreements } = await withStack(programs, {}, stack => measure(stack, row));
      const times = orders.map(({ sent, answered }) => answered - sent);
      const { 200: paid = 0, 502: unknown = 0 } = count(orders.map(({ statuses }) => statuses[0]));
      const others = orders.filter(({ statuses }) => ![200, 502].includes(statuses[0])).map(({ statuses, code }) => `${statuses[0]} ${code}`);
      const blocks = row.blockTime === 0 ? "instant" : `${row.blockTime} s`;
      print({
        rail: row.rail,
        blocks,
        payers: row.size,
        seconds: seconds(took),
        p50: seconds(percentile(times, 0.5)),
        p99: seconds(percentile(times, 0.99)),
        200: paid,
        502: unknown,
        audit: paid < row.size ? "-" : disagreements.length === 0 ? "equal" : "NOT EQUAL",
        other: words(count(others)),
      });
      const name = `concurrent: ${row.size} payers by ${row.rail}, blocks ${blocks}, run ${run}:`;
      if (paid !== row.size) missed.push(`${name} ${paid} answers 200, ${unknown} answers 502, ${others.length} others`);
      else missed.push(...disagreements.map(disagreement => `${name} ${disagreement}`));
    }
  }
  return missed;
}
