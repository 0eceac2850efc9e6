// Runs the programs that the developers' page shows, as the page shows them, against the real service on a real node.
//
//   node snippets.mjs BINARY SNIPPETS PYTHON
//
// SNIPPETS is the folder content/snippets, PYTHON a Python that has the official package.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { test, before, after } from "node:test";
import { promisify } from "node:util";
import { toHex } from "viem";
import { CEILING, UNITS_IN_A_CENT, card } from "./buyer.mjs";
import { startChain, who } from "./chains.mjs";
import { open, premises } from "./service.mjs";

const [binary, snippets, python] = process.argv.slice(2);
const MARK = "{{ base_url }}";
/** Below the packages, where Node finds them. */
const FOLDER = new URL("snippets-at-work/", import.meta.url).pathname;
const key = toHex(who.payer.getHdKey().privateKey);
const run = promisify(execFile);

/** Who runs a program, by the ending of its name. */
const RUNNERS = { sh: ["bash", "-euo", "pipefail"], mts: [process.execPath], py: [python] };

let chain;
let place;
let service;
let page;

before(async () => {
  chain = await startChain(8453);
  place = premises({ kind: "settler", rpc: { base: chain.url }, account: who.facilitator });
  service = await open(binary, place);
  const response = await fetch(`${service.url}/developers`, { headers: { accept: "text/markdown" } });
  assert.equal(response.status, 200);
  page = await response.text();
  rmSync(FOLDER, { recursive: true, force: true });
});

after(async () => {
  await service?.stop();
  chain?.stop();
  place?.remove();
  rmSync(FOLDER, { recursive: true, force: true });
});

/** The program as the page shows it, with its own name for the site, in a folder with a card and a key. */
function layOut(name) {
  const text = readFileSync(join(snippets, name), "utf8").trimEnd().replaceAll(MARK, service.url);
  assert.ok(page.includes(text), `the page does not show ${name} as it lies there`);
  const folder = join(FOLDER, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `${text}\n`);
  writeFileSync(join(folder, "card.json"), JSON.stringify(card(), null, 2));
  writeFileSync(join(folder, "payer.key"), `${key}\n`);
  chmodSync(join(folder, "payer.key"), 0o600);
  return folder;
}

async function execute(name) {
  const cwd = layOut(name);
  const [program, ...words] = RUNNERS[name.split(".").at(-1)];
  // No BASE_URL: the program has to know the site from the page.
  const env = { PATH: `${dirname(binary)}${delimiter}${process.env.PATH}`, HOME: process.env.HOME, PAYER_KEY: key };
  const { stdout } = await run(program, [...words, name], { cwd, env, timeout: 90_000 });
  return { cwd, said: stdout };
}

/** A program that pays: the payer has less by one charge, and the program names the transaction that took it. */
async function pays(name) {
  const had = await chain.balance("payer");
  const { said } = await execute(name);
  const charged = had - (await chain.balance("payer"));
  assert.ok(charged > 0n && charged <= CEILING && charged % UNITS_IN_A_CENT === 0n, `${charged}: ${said}`);
  const id = said.match(/\b[0-9a-f]{32}\b/)?.[0];
  assert.ok(id, said);
  const order = await (await fetch(`${service.url}/api/x402/orders/${id}`)).json();
  assert.equal(order.payment?.amount, String(charged), said);
  assert.ok(said.includes(order.payment.transaction), said);
}

const TESTS = {
  async "x402_challenge.sh"(name) {
    const { cwd, said } = await execute(name);
    const challenge = JSON.parse(readFileSync(join(cwd, "challenge.json"), "utf8"));
    assert.deepEqual(JSON.parse(said), challenge);
    assert.equal(challenge.x402Version, 2);
    assert.equal(challenge.accepts[0].amount, String(CEILING));
    const offer = JSON.parse(readFileSync(join(cwd, "offer.json"), "utf8"));
    assert.match(offer.public_order_id, /^[0-9a-f]{32}$/);
  },
  "x402_typescript.mts": pays,
  "x402_python.py": pays,
  "x402_pennyblack.sh": pays,
};

test("every program on the page is run here", () => {
  assert.deepEqual(readdirSync(snippets).sort(), Object.keys(TESTS).sort());
});
test("the versions that the programs name are those that are run here", () => {
  const named = name => readFileSync(join(snippets, name), "utf8").split("\n", 1)[0];
  const installed = [...named("x402_typescript.mts").matchAll(/(\S+)@([\d.]+)/g)];
  assert.equal(installed.length, 3);
  for (const [, name, version] of installed) {
    const { version: here } = JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), "utf8"));
    assert.equal(here, version, name);
  }
  const [, wanted] = named("x402_python.py").match(/"(x402\S+)"/);
  assert.ok(readFileSync(new URL("requirements.txt", import.meta.url), "utf8").includes(`\n${wanted}\n`), wanted);
});
for (const [name, body] of Object.entries(TESTS)) test(name, () => body(name));
