// Paid orders a second by 1, 2 and 4 processes on one PostgreSQL with one settler account, for scripts/bench.
import { writeFileSync } from "node:fs";
import { measure, OWN_SHARE } from "./processes.mjs";
import { canLimit } from "./processor.mjs";
import { withStack } from "./stack.mjs";
import { percentile } from "./table.mjs";

const PROCESSES = [1, 2, 4];
const PATIENCE = { patienceSeconds: 120, restSeconds: 60 };

/**
 * Each number of processes takes its turn in each run, once on shared processors and once with a share of a processor
 * for each process, if this machine allows it. Writes the medians to the file FIGURES, a list for each number.
 */
export async function rates(programs, { runs, orders }) {
  const shares = canLimit() ? [null, OWN_SHARE] : [null];
  const cases = shares.flatMap(share => PROCESSES.map(processes => ({ share, processes, rates: [] })));
  const missed = [];
  for (let run = 1; run <= runs; run += 1) {
    for (const { share, processes, rates } of cases) {
      const row = { store: "postgres", processes, share, kills: "no", orders, ...PATIENCE };
      const { rate, audit, disagreements, unfinished } = await withStack(programs, row, stack => measure(stack, row));
      const which = `${processes} processes, ${share ? `${share} of a processor each` : "shared processors"}`;
      console.log(`  run ${run} of ${runs}, ${which}: ${rate.toFixed(1)} orders/s; ${audit}`);
      rates.push(rate);
      if (unfinished.length > 0) disagreements.push(`${unfinished.length} orders are not paid`);
      missed.push(...disagreements.map(text => `rates: ${which}, run ${run}: ${text}`));
    }
  }
  const medians = cases.map(({ share, processes, rates }) => ({ share, processes, rate: percentile(rates, 0.5) }));
  writeFileSync(process.env.FIGURES, JSON.stringify(medians));
  return missed;
}
