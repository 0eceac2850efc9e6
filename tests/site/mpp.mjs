// Runs `mppx validate`: every check of the MPP endpoint counts, the result for the x402 endpoint is only printed.
import { spawnSync } from "node:child_process";
import { base, fail, judge, note, verdict } from "./lib.mjs";

const REQUIRED = "/api/mpp/postcards";
const RECORDED = "/api/x402/postcards";

function words({ severity, label, detail }) {
  return [severity, label, detail].filter(Boolean).join(": ");
}

// Without a wallet: the released validator cannot pay on an EVM chain.
const run = spawnSync("mppx", ["validate", base, "--outputJson"], { encoding: "utf8" });
let report = null;
try {
  report = JSON.parse(run.stdout);
} catch {
  fail(`mppx validate ended with ${run.status}`, [run.stdout, run.stderr]);
}
if (report) {
  for (const finding of report.discovery.checks) judge(`discovery: ${finding.label}`, finding.severity === "pass" ? [] : [words(finding)]);
  const found = (path) => report.endpoints.find((endpoint) => endpoint.path === path);
  const required = found(REQUIRED);
  const counted = [...(required?.challenge ?? []), ...(required?.errorHandling ?? [])];
  if (counted.length === 0) fail(`mppx validate did not look at ${REQUIRED}`);
  for (const finding of counted) judge(`${REQUIRED}: ${finding.label}`, finding.severity === "pass" ? [] : [words(finding)]);
  for (const finding of required?.payment ?? []) {
    if (["fail", "warn"].includes(finding.severity)) fail(`${REQUIRED}: ${words(finding)}`);
    else note(`${REQUIRED}: ${words(finding)}`);
  }
  const { challenge = [], errorHandling = [], payment = [] } = found(RECORDED) ?? {};
  const said = [...challenge, ...errorHandling, ...payment];
  if (said.length === 0) fail(`mppx validate did not look at ${RECORDED}`);
  for (const finding of said) note(`${RECORDED}: ${words(finding)}`);
}
verdict();
