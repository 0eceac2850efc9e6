// Runs one part of the settlement test, or a little of each, and fails if a requirement is missed.
//
//   RUNS=1 node main.mjs BINARY PROVIDER concurrent|processes|rolling|nodes|wallet|flood|rates|short [PAYERS or ORDERS]
import { concurrent } from "./concurrent.mjs";
import { flood } from "./flood.mjs";
import { nodes } from "./nodes.mjs";
import { processes } from "./processes.mjs";
import { rates } from "./rates.mjs";
import { rolling } from "./rolling.mjs";
import { stopEverything } from "./stack.mjs";
import { wallet } from "./wallet.mjs";

const [binary, providerBinary, part, payers] = process.argv.slice(2);
const programs = { binary, providerBinary };
const runs = Number(process.env.RUNS ?? 1);
const PARTS = {
  concurrent: () => concurrent(programs, { runs, ...(payers && { sizes: [Number(payers)] }) }),
  processes: () => processes(programs, { runs }),
  rolling: () => rolling(programs),
  nodes: () => nodes(programs, { runs }),
  wallet: () => wallet(programs),
  flood: () => flood(programs),
  rates: () => rates(programs, { runs, orders: Number(payers) }),
  short: async () => [
    ...(await concurrent(programs, { runs, sizes: [50], blockTimes: [0] })),
    ...(await processes(programs, { runs, short: true })),
    ...(await nodes(programs, { runs, short: true })),
    ...(await wallet(programs)),
  ],
};

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopEverything().finally(() => process.exit(130)));

const begun = Date.now();
let missed;
try {
  missed = await PARTS[part]();
} catch (error) {
  missed = [error.stack];
  await stopEverything();
}
console.log(`\n${part} took ${Math.round((Date.now() - begun) / 1_000)} s`);
for (const requirement of missed) console.log(`MISSED  ${requirement}`);
if (missed.length === 0) console.log("All requirements are met.");
process.exit(missed.length === 0 ? 0 : 1);
