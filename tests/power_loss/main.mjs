// Runs one campaign of tests/power_loss and prints its figures.
//
//   node main.mjs BINARY PROVIDER DISK POSTGRES sqlite|postgres|full SIZE SEED
//
// DISK is the file system of this folder, POSTGRES the folder of initdb and postgres.
import { stopEverything } from "../settlement/stack.mjs";
import { keepDisk } from "./evidence.mjs";
import { full } from "./full.mjs";
import { losses } from "./losses.mjs";
import { createRandom } from "./random.mjs";

const [binary, providerBinary, disk, postgres, part, sizeWord, seedWord] = process.argv.slice(2);
const programs = { binary, providerBinary, disk, postgres };
const [size, seed] = [Number(sizeWord), Number(seedWord)];
const PARTS = { sqlite: losses.bind(null, "sqlite"), postgres: losses.bind(null, "postgres"), full };
const evidence = { store: null };
const PROGRESS_MILLISECONDS = 5_000;

const number = value => value.toLocaleString("en-US");
let told = Date.now();
/** A line every few seconds. */
function progress(done, text) {
  if (Date.now() - told < PROGRESS_MILLISECONDS) return;
  told = Date.now();
  console.log(`  ${number(done)} of ${number(size)}, ${text}`);
}

function describe(figures) {
  const { instants, points, orders, answers, transfers, cards } = figures;
  if (part === "full") return `${number(points)} points (${figures.growth} at which files could not grow, ${figures.writes} at which nothing could be written, ${figures.kills} with a kill), ${number(answers)} of ${number(orders)} orders paid, ${number(figures.refused)} answers 502 or 503, 0 lost, 0 doubled`;
  return `${number(instants)} instants (${number(figures["while starting"])} while starting, ${number(figures["at an answer"])} at an answer 200), ${number(orders)} orders, ${number(answers)} answers 200, ${number(transfers)} transfers and ${number(cards)} cards checked after the losses, 0 lost, 0 doubled; ${number(figures.dropped)} unsynced pages dropped, ${number(figures.reached)} written, ${number(figures.torn)} torn, ${number(figures.names)} names lost`;
}

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    await stopEverything();
    await evidence.store?.remove().catch(() => {});
    process.exit(130);
  });
}

console.log(`${part}: ${number(size)}, seed ${seed}`);
const figures = {};
let wrong;
try {
  wrong = await PARTS[part](programs, { random: createRandom(seed), size, progress, evidence, figures });
} catch (error) {
  wrong = [error.stack];
}
if (wrong.length > 0) {
  for (const text of wrong.slice(0, 20)) console.log(`  FAIL  ${text}`);
  await stopEverything();
  await keepDisk(evidence);
  console.log(`  ${wrong.length} faults. To repeat: tests/power_loss/run ${part} ${size} ${seed}`);
}
await stopEverything();
await evidence.store?.remove().catch(error => console.log(`  ${error.message}`));
if (wrong.length === 0) console.log(`figures: ${describe(figures)}; seed ${seed}`);
process.exit(wrong.length === 0 ? 0 : 1);
