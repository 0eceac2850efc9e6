// Runs the file system that loses power: commands to it, and what it tells.
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/**
 * Mounts an empty disk. `names` says what makes the name of a file durable: a sync of the `file`, or only one of its
 * `folder`.
 */
export async function mountDisk(program, seed, names) {
  const folder = mkdtempSync(join(tmpdir(), "pennyblack-disk-"));
  chmodSync(folder, 0o755);
  const child = spawn(program, [folder, String(seed), names], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise(resolve => child.once("exit", resolve));
  const answers = [];
  const disk = { folder, loss: null, isFull: false };
  let told;
  createInterface({ input: child.stdout }).on("line", line => {
    if (!line.startsWith("notice ")) return answers.shift()?.(line);
    if (line === "notice full") disk.isFull = true;
    else disk.loss = Object.fromEntries(line.split(" ").slice(2).map(word => word.split("=")).map(([name, count]) => [name, Number(count)]));
    told?.();
  });
  const failure = ended.then(code => {
    throw new Error(`the disk ended with ${code}`);
  });
  failure.catch(() => {});
  const answer = () => Promise.race([new Promise(resolve => answers.push(resolve)), failure]);
  const command = line => {
    child.stdin.write(`${line}\n`);
    return answer();
  };
  await answer();
  /** Waits for a notice for so long at most. */
  const notice = async (isThere, milliseconds) => {
    const end = Date.now() + milliseconds;
    while (!isThere() && Date.now() < end) {
      const next = new Promise(resolve => (told = resolve));
      let timer;
      const over = new Promise(resolve => (timer = setTimeout(resolve, end - Date.now())));
      await Promise.race([next, over, failure]).finally(() => clearTimeout(timer));
    }
    return isThere();
  };
  return Object.assign(disk, {
    loseAfter: changes => command(`lose-after ${changes}`),
    loseNow: () => command("lose"),
    lost: milliseconds => notice(() => disk.loss !== null, milliseconds),
    filled: milliseconds => notice(() => disk.isFull, milliseconds),
    async remount() {
      await command("remount");
      disk.loss = null;
    },
    async limit(kind, bytes) {
      disk.isFull = false;
      await command(`space ${kind} ${bytes}`);
    },
    async release() {
      await command("space unlimited");
    },
    async unmount() {
      child.stdin.end();
      await ended;
      rmdirSync(folder);
    },
  });
}
