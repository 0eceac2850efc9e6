// Paid orders a second by 1, 2 and 4 processes on one PostgreSQL with one settler account, for scripts/bench.
import { writeFileSync } from "node:fs";
import { measure } from "./processes.mjs";
import { withStack } from "./stack.mjs";
import { percentile } from "./table.mjs";

const PROCESSES = [1, 2, 4];
const PATIENCE = { patienceSeconds: 120, restSeconds: 60 };

/** Each number of processes takes its turn in each run. Writes the medians to the file FIGURES. */
export async function rates(programs, { runs, orders }) {
  const found = Object.fromEntries(PROCESSES.map(processes => [processes, []]));
  const missed = [];
  for (let run = 1; run <= runs; run += 1) {
    for (const processes of PROCESSES) {
      const row = { store: "postgres", processes, kills: "no", orders, ...PATIENCE };
      const { rate, audit, disagreements, unfinished } = await withStack(programs, row, stack => measure(stack, row));
      console.log(`  run ${run} of ${runs}, ${processes} processes: ${rate.toFixed(1)} orders/s; ${audit}`);
      found[processes].push(rate);
      if (unfinished.length > 0) disagreements.push(`${unfinished.length} orders are not paid`);
      missed.push(...disagreements.map(text => `rates: ${processes} processes, run ${run}: ${text}`));
    }
  }
  const medians = Object.entries(found).map(([processes, values]) => [processes, percentile(values, 0.5)]);
  writeFileSync(process.env.FIGURES, JSON.stringify(Object.fromEntries(medians)));
  return missed;
}
