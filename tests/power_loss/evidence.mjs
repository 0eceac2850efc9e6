// What is kept if a campaign fails: the log of the service and a copy of the disk.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withStack } from "../settlement/stack.mjs";

/** As `withStack`; `act` answers what is wrong. If anything is, the folder with the log of the service is kept. */
export function withEvidence(programs, options, act) {
  return withStack(programs, options, async stack => {
    let wrong = null;
    try {
      wrong = await act(stack);
    } finally {
      if (wrong?.length !== 0) process.env.KEEP = "1";
    }
    return wrong;
  });
}

/** Copies what is on the disk, as the power loss left it. */
export async function keepDisk({ store }) {
  if (!store) return;
  const folder = mkdtempSync(join(tmpdir(), "pennyblack-evidence-"));
  try {
    await store.kill();
    if (store.disk.loss) await store.disk.remount();
    store.keep(folder);
    console.log(`  copy of the disk and of the log of its database: ${folder}`);
  } catch (error) {
    console.log(`  the disk cannot be copied: ${error.message}`);
  }
}
