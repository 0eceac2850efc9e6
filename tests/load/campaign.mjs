// What all campaigns of this folder and of tests/kills do: they print the seed, keep the evidence of a failure and end with one line of figures.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { stopEverything, withStack } from "../settlement/stack.mjs";

const FAULTS_PRINTED = 20;

export const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

/** A number with a comma between thousands. */
export const grouped = number => Math.round(Number(number)).toLocaleString("en-US");

/** Runs something on a stack of its own. If it finds faults, the logs and the store are kept. */
export const onStack = (programs, options, act) =>
  withStack(programs, options, async stack => {
    let result;
    try {
      result = await act(stack);
    } catch (error) {
      result = { faults: [error.stack] };
    }
    if (result.faults.length > 0) {
      process.env.KEEP = "1";
      // The database is dropped with the stack.
      if (stack.database) execFileSync("pg_dump", ["--file", join(stack.services[0].folder, "store.sql"), stack.database.url], { stdio: "inherit" });
    }
    return result;
  });

/** Runs `act`, which answers `faults` and `figures`, prints both and ends the process. `command` repeats the campaign. */
export async function runCampaign(command, act) {
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopEverything().finally(() => process.exit(130)));
  const begun = Date.now();
  let result;
  try {
    result = await act();
  } catch (error) {
    result = { faults: [error.stack] };
    await stopEverything();
  }
  const { faults, figures = "none" } = result;
  console.log(`It took ${Math.round((Date.now() - begun) / 1_000)} s.`);
  for (const fault of faults.slice(0, FAULTS_PRINTED)) console.log(`FAIL  ${fault}`);
  if (faults.length > 0) console.log(`${faults.length} failures.\nTo repeat: ${command}`);
  console.log(`figures: ${figures}`);
  process.exit(faults.length === 0 ? 0 : 1);
}
