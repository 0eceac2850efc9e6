// Decides from samples of a soak whether memory, file handles or the store have grown more than the orders need.
import { percentile } from "../settlement/table.mjs";

/** The first third is warm-up; the last third may be above the second by this much. */
const MEMORY_TIMES = 1.05;
const MEMORY_MB = 6;
const HANDLES = 40;
/** An order with its events, its outbox row and the indexes, and what the log of the store may take beside. */
const ORDER_KB = 8;
const LOG_MB = 12;

const median = (samples, name) => percentile(samples.map(one => one[name]), 0.5);
const most = (samples, name) => Math.max(...samples.map(one => one[name]));

/** `samples` are in the order of time. */
export function judge(samples) {
  const third = Math.floor(samples.length / 3);
  const [second, last] = [samples.slice(third, 2 * third), samples.slice(2 * third)];
  const faults = [];
  const memory = [median(second, "memory"), median(last, "memory")];
  if (memory[1] > MEMORY_TIMES * memory[0] + MEMORY_MB) faults.push(`memory grows: ${memory.map(one => one.toFixed(1)).join(" MB, then ")} MB`);
  const own = some => percentile(some.map(({ handles: all, waiting }) => all - waiting), 0.5);
  const handles = [own(second), own(last)];
  if (handles[1] > handles[0] + HANDLES) faults.push(`file handles grow: ${handles.join(", then ")}, without those of waiting payers`);
  const [first, end] = [samples[0], samples.at(-1)];
  const [orders, grown] = [end.orders - first.orders, end.disk - first.disk];
  if (grown > LOG_MB + (orders * ORDER_KB) / 1_024) faults.push(`the store has grown by ${grown.toFixed(1)} MB for ${orders} orders`);
  const figures = [
    `memory ${memory[0].toFixed(1)} MB in the second third and ${memory[1].toFixed(1)} MB in the last (at most ${most(samples, "memory").toFixed(1)} MB)`,
    `file handles ${handles[0]} and ${handles[1]} (at most ${most(samples, "handles")} with waiting payers)`,
    `store ${((1_024 * grown) / Math.max(orders, 1)).toFixed(1)} KB for each order`,
  ];
  return { faults, figures: figures.join(", ") };
}
