// Runs the code examples of the developers' page, as printed, against the real service on a real node.
//
//   node snippets.mjs BINARY SNIPPETS X402_PYTHON MPP_PYTHON
//
// SNIPPETS is the folder content/snippets; each Python has the official package of its rail.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { test, before, after } from "node:test";
import { promisify } from "node:util";
import { Mppx } from "mppx/client";
import { assets } from "mppx/evm";
import { evm } from "mppx/evm/client";
import { toHex } from "viem";
import { CEILING, UNITS_IN_A_CENT, card } from "../x402/buyer.mjs";
import { USDC, startChain, who } from "../x402/chains.mjs";
import { open, premises } from "../x402/service.mjs";

const [binary, snippets, x402Python, mppPython] = process.argv.slice(2);
const MARK = "{{ base_url }}";
/** Below the packages, where Node finds them. */
const FOLDER = new URL("snippets-at-work/", import.meta.url).pathname;
const key = toHex(who.payer.getHdKey().privateKey);
const run = promisify(execFile);

/** The interpreter of a program, by its rail and file extension. */
const SHARED = { sh: ["bash", "-euo", "pipefail"], mts: [process.execPath] };
const RUNNERS = { x402: { ...SHARED, py: [x402Python] }, mpp: { ...SHARED, py: [mppPython] } };
const railOf = name => name.split("_", 1)[0];

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

/** The program as the page prints it, with the site's URL, in a folder with a card and a key. */
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

async function execute(name, prepare = async () => {}) {
  const cwd = layOut(name);
  await prepare(cwd);
  const [program, ...words] = RUNNERS[railOf(name)][name.split(".").at(-1)];
  // Without BASE_URL: the URL from the page must work.
  const env = { PATH: `${dirname(binary)}${delimiter}${process.env.PATH}`, HOME: process.env.HOME, PAYER_KEY: key };
  const { stdout } = await run(program, [...words, name], { cwd, env, timeout: 90_000 });
  return { cwd, said: stdout };
}

/** Runs something, and returns by how much the payer's balance fell. */
async function weighed(doing) {
  const had = await chain.balance("payer");
  const result = await doing();
  return [result, had - (await chain.balance("payer"))];
}

/** Signs with `mppx` for the card in this folder, and writes the header to a file for curl. */
async function signByMppx(cwd) {
  const body = readFileSync(join(cwd, "card.json"), "utf8");
  const method = evm.charge({ account: who.payer, currencies: [assets.base.USDC], maxAmount: "3.50" });
  const client = Mppx.create({ methods: [method], polyfill: false });
  const asked = await fetch(`${service.url}/api/mpp/postcards`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  assert.equal(asked.status, 402);
  writeFileSync(join(cwd, "credential.txt"), `Authorization: ${await client.createCredential(asked)}\n`, { mode: 0o600 });
}

/** A program that pays: the payer has less by one charge, and the program names the transaction that took it. */
async function pays(name) {
  const [{ said }, charged] = await weighed(() => execute(name));
  const right = {
    x402: charged > 0n && charged <= CEILING && charged % UNITS_IN_A_CENT === 0n,
    mpp: charged === CEILING,
  };
  assert.ok(right[railOf(name)], `${charged}: ${said}`);
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
  async "mpp_challenge.sh"(name) {
    const { cwd, said } = await execute(name);
    const [challenge, request] = said.split("\n");
    assert.match(challenge, /^www-authenticate: Payment id="[\w-]{43}", realm=/i);
    const { amount, currency, methodDetails } = JSON.parse(request);
    assert.deepEqual([amount, currency, methodDetails.chainId], [String(CEILING), USDC[8453], 8453]);
    const problem = JSON.parse(readFileSync(join(cwd, "problem.json"), "utf8"));
    assert.match(problem.public_order_id, /^[0-9a-f]{32}$/);
  },
  async "mpp_retry.sh"(name) {
    const [{ cwd, said }, charged] = await weighed(() => execute(name, signByMppx));
    assert.equal(charged, CEILING, said);
    assert.match(said, /"status":"submitted"/);
    const receipt = said.match(/^payment-receipt: (\S+)/im)[1];
    const { reference, method } = JSON.parse(Buffer.from(receipt, "base64url"));
    assert.deepEqual([method, (await chain.reader.getTransactionReceipt({ hash: reference })).status], ["evm", "success"]);
    // As after a lost answer: the same command returns the same receipt and charges nothing.
    const files = ["credential.txt", "card.json"].map(file => [file, readFileSync(join(cwd, file))]);
    const again = async folder => files.forEach(([file, text]) => writeFileSync(join(folder, file), text));
    const [second, more] = await weighed(() => execute(name, again));
    assert.deepEqual([second.said, more], [said, 0n]);
  },
  "mpp_typescript.mts": pays,
  "mpp_python.py": pays,
  "mpp_pennyblack.sh": pays,
};

test("every program on the page is run here", () => {
  assert.deepEqual(readdirSync(snippets).sort(), Object.keys(TESTS).sort());
});
test("the versions that the programs name are those that are run here", () => {
  const named = name => readFileSync(join(snippets, name), "utf8").split("\n", 1)[0];
  const installed = ["x402", "mpp"].flatMap(rail => [...named(`${rail}_typescript.mts`).matchAll(/(\S+)@([\d.]+)/g)]);
  assert.equal(installed.length, 5);
  for (const [, name, version] of installed) {
    const { version: here } = JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), "utf8"));
    assert.equal(here, version, name);
  }
  for (const rail of ["x402", "mpp"]) {
    const [, wanted] = named(`${rail}_python.py`).match(/pip install "(\S+)"/);
    assert.ok(readFileSync(new URL(`../${rail}/requirements.txt`, import.meta.url), "utf8").includes(`\n${wanted}\n`), wanted);
  }
});
for (const [name, body] of Object.entries(TESTS)) test(name, () => body(name));
