// The real binary, with the sandbox's names and provider and somebody else's chains.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toHex } from "viem";

/** What is printed when the doors are open. */
const OPEN = "Ctrl-C";

/** A folder in which the service may be opened and opened again. */
export function premises({ kind, rpc, account, facilitator }) {
  const folder = mkdtempSync(join(tmpdir(), "pennyblack-x402-"));
  const nodes = Object.entries(rpc).map(([network, url]) => `"${network}=${url}"`);
  const lines = ["[payments]", `kind = "${kind}"`, `rpc = [${nodes.join(", ")}]`];
  if (facilitator) lines.push(`facilitator = "${facilitator}"`);
  lines.push("", "[sandbox]", 'mixed = "yes"', "");
  writeFileSync(join(folder, "pennyblack.toml"), lines.join("\n"));
  const environment = { PENNYBLACK_LISTEN: "127.0.0.1:0", PENNYBLACK_LOG: "warn", PATH: process.env.PATH };
  if (account) environment.PENNYBLACK_SETTLER_KEY = toHex(account.getHdKey().privateKey);
  return { folder, environment, remove: () => rmSync(folder, { recursive: true }) };
}

export async function open(binary, { folder, environment }) {
  const child = spawn(binary, [], { cwd: folder, env: environment, stdio: ["ignore", "pipe", "inherit"] });
  let banner = "";
  await new Promise((resolve, reject) => {
    child.stdout.on("data", text => {
      banner += text;
      if (banner.includes(OPEN)) resolve();
    });
    child.once("exit", code => reject(new Error(`the service ended with ${code}: ${banner}`)));
  });
  const url = banner.match(/http:\/\/127\.0\.0\.1:\d+/)[0];
  const mailbox = banner.match(/http:\/\/127\.0\.0\.1:\d+\/\S*mailbox\S*/)?.[0];
  const end = signal =>
    new Promise(resolve => {
      child.removeAllListeners("exit");
      child.once("exit", resolve);
      child.kill(signal);
    });
  return { url, mailbox, banner, stop: () => end("SIGTERM"), kill: () => end("SIGKILL") };
}
