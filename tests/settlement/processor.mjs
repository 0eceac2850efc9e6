// Limits a process to a share of one processor, as if it ran on a small machine of its own.
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";

/** Short, so that a process is never stopped for longer than this. */
const PERIOD_MICROSECONDS = 10_000;
/** A control group of version 1 or 2, and the file that limits it. */
const VERSIONS = [
  { parent: "/sys/fs/cgroup/cpu", limits: quota => ({ "cpu.cfs_period_us": PERIOD_MICROSECONDS, "cpu.cfs_quota_us": quota }) },
  { parent: "/sys/fs/cgroup", limits: quota => ({ "cpu.max": `${quota} ${PERIOD_MICROSECONDS}` }) },
];

/** Makes a control group in which a process gets at most `share` of a processor; null where this machine does not allow it. */
export function limitedGroup(name, share) {
  for (const { parent, limits } of VERSIONS) {
    const folder = `${parent}/${name}`;
    try {
      mkdirSync(folder);
      for (const [file, value] of Object.entries(limits(Math.round(share * PERIOD_MICROSECONDS)))) writeFileSync(`${folder}/${file}`, String(value));
    } catch {
      remove(folder);
      continue;
    }
    return { add: pid => writeFileSync(`${folder}/cgroup.procs`, String(pid)), remove: () => remove(folder) };
  }
  return null;
}

/** Whether this machine allows it. */
export function canLimit() {
  const group = limitedGroup(`pennyblack-${process.pid}`, 0.5);
  group?.remove();
  return group !== null;
}

/** A group with a process that still ends cannot be removed; it costs nothing. */
function remove(folder) {
  try {
    readFileSync(`${folder}/cgroup.procs`);
    rmdirSync(folder);
  } catch {
    // It does not exist, or is in use.
  }
}
