// Runs the real binary, with names and provider of the sandbox and external chains.
import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toHex } from "viem";

/** Printed once the service listens. */
const OPEN = "Ctrl-C";

/**
 * A folder in which the service can be started repeatedly. `rpc` has nodes by network, `account` is the settler's and
 * `facilitator` the URL for the other kind; `payments`, `sandbox`, `provider` and `limits` are further settings of these sections.
 */
export function premises({ kind, rpc, account, facilitator, port = 0, payments = {}, sandbox = {}, provider = {}, limits = {} }) {
  const folder = mkdtempSync(join(tmpdir(), "pennyblack-x402-"));
  const nodes = Object.entries(rpc).map(([network, url]) => `"${network}=${url}"`);
  const lines = ["[payments]", `kind = "${kind}"`, `rpc = [${nodes.join(", ")}]`];
  if (facilitator) lines.push(`facilitator = "${facilitator}"`);
  const written = settings => Object.entries(settings).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  lines.push(...written(payments));
  const section = (name, settings) => [`[${name}]`, ...written(settings), ""];
  const rehearse = more => {
    const sections = [...section("provider", provider), ...section("limits", limits), ...section("sandbox", { mixed: "yes", ...sandbox, ...more })];
    writeFileSync(join(folder, "pennyblack.toml"), [...lines, "", ...sections].join("\n"));
  };
  rehearse({});
  const environment = { PENNYBLACK_LISTEN: `127.0.0.1:${port}`, PENNYBLACK_LOG: "warn", PATH: process.env.PATH };
  if (account) environment.PENNYBLACK_SETTLER_KEY = toHex(account.getHdKey().privateKey);
  return { folder, environment, rehearse, store: join(folder, "data/pennyblack.sqlite3"), remove: () => rmSync(folder, { recursive: true }) };
}

/** Starts the service and does not wait. `command` precedes the binary; `log` is a file for its log; without it the log goes to standard error. */
export function launch(binary, { folder, environment, command = [] }, log = null) {
  const stdio = ["ignore", "pipe", log ? openSync(log, "a") : "inherit"];
  const [program, ...words] = [...command, binary];
  const child = spawn(program, words, { cwd: folder, env: environment, stdio });
  if (log) closeSync(stdio[2]);
  let banner = "";
  const opened = new Promise((resolve, reject) => {
    child.stdout.on("data", text => {
      banner += text;
      if (banner.includes(OPEN)) resolve({ url: banner.match(/http:\/\/[\d.]+:\d+/)[0], banner });
    });
    child.once("exit", code => reject(new Error(`the service ended with ${code}: ${banner}`)));
  });
  const end = signal =>
    new Promise(resolve => {
      child.removeAllListeners("exit");
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once("exit", resolve);
      child.kill(signal);
    });
  return { pid: child.pid, opened, signal: name => child.kill(name), stop: () => end("SIGTERM"), kill: () => end("SIGKILL") };
}

/** Starts the service and waits until it listens. */
export async function open(binary, place, log = null) {
  const { opened, ...process } = launch(binary, place, log);
  return { ...(await opened), ...process };
}

/** Polls until `look` returns something; `what` is in the error after the time is over. */
export async function until(what, look, seconds = 60) {
  const end = Date.now() + 1_000 * seconds;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`timed out waiting until ${what}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}
