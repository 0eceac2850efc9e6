// A person writes a card, sees it, goes to the payment page and follows the order; an agent hands a card over.
//
//   node main.mjs BINARY [short]
//
// short: every language on a phone, and English also on a desktop and without JavaScript.
// SHOTS=folder saves a screenshot of every page.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch } from "../console/browser.mjs";
import { MARKED, Sandbox, until } from "../console/sandbox.mjs";
import { DESKTOP, PHONE, follow, isShown, look, openTab, value } from "./browser.mjs";
import { Recorder } from "./recorder.mjs";

const [binary, length] = process.argv.slice(2);
const isShort = length === "short";
const shots = process.env.SHOTS;
if (shots) mkdirSync(shots, { recursive: true });

const LANGUAGES = { en: "/send", de: "/de/send", es: "/es/send", it: "/it/send" };
const [NAME, STREET, CITY, WORD] = MARKED;
const CARD = {
  front_image_url: "https://images.example.org/sea.jpg",
  message: `Dear Ada,\n\nthe ${WORD} is in bloom.`,
  recipient: { name: NAME, address: `12 ${STREET}`, city: CITY, province: "", postal_code: "SW1Y 4JH", country: "GB" },
};
const HOSTILE = "\"'></textarea><script>alert(1)</script><img src=x onerror=alert(1)>${alert(1)}";

const complaints = [];
let pages = 0;
const done = (line) => console.log(`  ok    ${line}`);

async function check(tab, name) {
  pages += 1;
  complaints.push(...(await look(tab, name, shots)));
}

const toLink = (origin, path, text) => `${origin}${path}#card=${Buffer.from(text).toString("base64url")}`;

/** Types a card as a person does, so that the page sees every key. */
async function write(tab, { recipient, ...card }) {
  const own = await tab.$("input[name=picture][value=own]");
  if (own) await own.evaluate((radio) => radio.click());
  const set = (id, text) => tab.$eval(`#${id}`, (found, value) => {
    found.value = value;
    found.dispatchEvent(new Event("input", { bubbles: true }));
  }, text);
  for (const [id, text] of Object.entries({ ...card, ...recipient })) await set(id, text);
}

async function isKept(tab, why) {
  assert.equal(await value(tab, "message"), CARD.message, why);
  for (const id of ["name", "address", "city", "postal_code", "country"]) {
    assert.equal(await value(tab, id), CARD.recipient[id], `${why}: ${id}`);
  }
}

const kept = (tab) => tab.evaluate(() => sessionStorage.getItem("pennyblack:card"));

/** Asks for the preview. All callers share a limit; who is told to wait waits, as a person does. */
async function preview(tab) {
  for (;;) {
    const response = await follow(tab, "#card button[value=preview]");
    if (response.status() !== 503) return response;
    assert.ok(await isShown(tab, "notice"));
    assert.notEqual(await value(tab, "message"), "");
    await new Promise((over) => setTimeout(over, Number(response.headers()["retry-after"]) * 1000));
  }
}

/** The pictures of the preview have come. */
const arePicturesShown = (tab) => until("the pictures of the preview are there", () =>
  tab.$$eval(".proof-sides img", (found) => found.length === 2 && found.every((one) => one.complete && one.naturalWidth > 0)));

/** What the payment page sends: the order and the request. */
const due = (tab) => tab.$eval("#paywall-data", (found) => JSON.parse(found.textContent));

async function withJavaScript(browser, options, language) {
  const tab = await openTab(browser, options);
  const path = LANGUAGES[language];
  const name = `${language}-${options.screen.width}`;
  await tab.goto(options.origin + path, { waitUntil: "load" });
  assert.equal(await tab.$eval("html", (found) => found.lang), language);
  assert.ok(await isShown(tab, "drawing"));
  await check(tab, `send-empty-${language}`);
  await write(tab, CARD);
  await until("the card is drawn", () => tab.$eval("#drawn-message", (found, word) => found.textContent.includes(word), WORD));
  assert.match(await tab.$eval("#drawn-address", (found) => found.textContent), new RegExp(NAME));
  assert.match(await tab.$eval("#message-count", (found) => found.textContent), new RegExp(`\\b${1_000 - [...CARD.message].length}\\b`));
  await check(tab, `send-written-${language}`);
  await tab.reload();
  await isKept(tab, `${name}: after a reload`);
  await tab.goto(`${options.origin}/docs`);
  await tab.goBack();
  await isKept(tab, `${name}: after going back`);

  await tab.$eval("#name", (found) => (found.value = ""));
  const faulty = await follow(tab, "#card button[value=preview]");
  assert.equal(faulty.status(), 400);
  assert.equal(faulty.headers()["cache-control"], "no-store");
  assert.equal(await tab.$eval("#name", (found) => found.getAttribute("aria-invalid")), "true");
  assert.equal(await tab.evaluate(() => document.activeElement.id), "faults");
  assert.equal(await value(tab, "message"), CARD.message);
  await check(tab, `send-faults-${language}`);
  await write(tab, CARD);

  assert.equal((await preview(tab)).status(), 200);
  await arePicturesShown(tab);
  assert.match(await tab.$eval(".proof-pay", (found) => found.textContent), /\d[.,]\d+\sUSDC/);
  await check(tab, `send-proof-${language}`);
  await tab.$eval("#message", (found) => {
    found.value += "!";
    found.dispatchEvent(new Event("input", { bubbles: true }));
  });
  assert.ok(!(await isShown(tab, "pay-form")) && (await isShown(tab, "proof-stale")), "an old preview pays for nothing");
  await write(tab, CARD);
  assert.equal((await preview(tab)).status(), 200);

  const payment = await follow(tab, "#pay-form button");
  assert.equal(payment.status(), 402);
  assert.deepEqual(JSON.parse((await due(tab)).request.body).recipient.name, NAME);
  const { order } = await due(tab);
  await tab.goBack();
  await tab.waitForSelector("#card");
  await isKept(tab, `${name}: after the payment page`);
  await tab.close();
  done(`${name}: written, drawn, corrected, previewed, payment page of ${order.slice(0, 6)}…, kept after reload and back`);
}

async function withoutJavaScript(browser, options, language) {
  const tab = await openTab(browser, { ...options, script: false });
  await tab.goto(options.origin + LANGUAGES[language]);
  assert.ok(!(await isShown(tab, "drawing")));
  for (const [id, text] of Object.entries({ ...CARD, recipient: undefined, ...CARD.recipient })) {
    if (text !== undefined && id !== "recipient") await tab.$eval(`#${id}`, (found, value) => (found.value = value), text);
  }
  const own = await tab.$("input[type=radio][name=picture][value=own]");
  if (own) await own.evaluate((radio) => (radio.checked = true));
  await tab.$eval("#country", (found) => (found.value = ""));
  assert.equal((await follow(tab, "#card button[value=preview]")).status(), 400);
  assert.ok(await isShown(tab, "country-fault"));
  await check(tab, `noscript-faults-${language}`);
  await tab.$eval("#country", (found) => (found.value = "GB"));
  assert.equal((await preview(tab)).status(), 200);
  await arePicturesShown(tab);
  assert.equal((await follow(tab, "#pay-form button")).status(), 402);
  await tab.close();
  done(`${language}-${options.screen.width} without JavaScript: corrected, previewed, payment page`);
}

/** The link that the downloadable client makes. */
async function clientLink(sandbox, origin) {
  const program = join(sandbox.folder, "pennyblack.mjs");
  writeFileSync(program, await (await fetch(`${origin}/client/pennyblack.mjs`)).text());
  writeFileSync(join(sandbox.folder, "card.json"), JSON.stringify(CARD));
  const args = [program, "hand_off", "--body", "card.json", "--base-url", origin];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: sandbox.folder, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

async function handOff(browser, options, sandbox, recorder) {
  const links = [await clientLink(sandbox, options.origin), toLink(options.origin, "/de/send", JSON.stringify(CARD))];
  for (const link of links) {
    recorder.clear();
    const tab = await openTab(browser, options);
    await tab.goto(link, { waitUntil: "networkidle0" });
    await isKept(tab, "handed over");
    assert.equal(await value(tab, "front_image_url"), CARD.front_image_url);
    assert.ok(await isShown(tab, "handoff-filled"));
    assert.equal(new URL(tab.url()).hash, "", "the address does not carry the card any longer");
    await check(tab, "handed-over");
    await tab.reload({ waitUntil: "networkidle0" });
    await isKept(tab, "handed over, after a reload");
    const fragment = new URL(link).hash.slice("#card=".length);
    assert.ok(recorder.requests.length > 0);
    assert.deepEqual(recorder.found([...MARKED, CARD.front_image_url, "sea.jpg", fragment, fragment.slice(0, 24)]), []);
    assert.ok(recorder.requests.every(({ method }) => method === "GET"));
    assert.equal((await preview(tab)).status(), 200);
    assert.notDeepEqual(recorder.found(MARKED), [], "the recorder sees what is sent");
    await tab.close();
  }
  assert.ok(!MARKED.some((word) => sandbox.output.includes(word)), "the log contains no card");
  done("hand-off by the client and by a script: no byte of the card in any request before the person submits");
}

async function hostileLinks(browser, options) {
  const everywhere = { front_image_url: HOSTILE, message: HOSTILE, recipient: {} };
  for (const id of Object.keys(CARD.recipient)) everywhere.recipient[id] = HOSTILE;
  const open = async (hash, note) => {
    const tab = await openTab(browser, options);
    await tab.goto(`${options.origin}/send${hash}`, { waitUntil: "networkidle0" });
    assert.ok(await isShown(tab, note), `${hash.slice(0, 40)}: ${note}`);
    return tab;
  };
  const encoded = (text) => `#card=${Buffer.from(text).toString("base64url")}`;
  let tab = await open(encoded(JSON.stringify(everywhere)), "handoff-partly");
  assert.equal(await value(tab, "name"), HOSTILE);
  assert.equal((await follow(tab, "#card button[value=preview]")).status(), 400);
  assert.equal(await value(tab, "name"), HOSTILE);
  assert.equal(await tab.$$eval("main script:not([src]), main img[src=x]", (found) => found.length), 0);
  await check(tab, "hostile");
  await tab.close();
  for (const [hash, note] of [
    [`#card=${"A".repeat(1_000_000)}`, "handoff-too-large"],
    ["#card=%%%", "handoff-unreadable"],
    ["#card=", "handoff-unreadable"],
    [encoded("not json"), "handoff-unreadable"],
    [encoded("[1,2]"), "handoff-unreadable"],
    [encoded("null"), "handoff-unreadable"],
    [`#card=${Buffer.from([0xff, 0xfe]).toString("base64url")}`, "handoff-unreadable"],
    [encoded(JSON.stringify({ message: 7, recipient: [], seller: "mallory" })), "handoff-partly"],
    [encoded(JSON.stringify({ message: "x".repeat(20_000), recipient: { country: "ZZ" } })), "handoff-partly"],
    [encoded("{\"__proto__\":{\"message\":\"x\"},\"constructor\":1}"), "handoff-partly"],
  ]) {
    tab = await open(hash, note);
    assert.equal(await value(tab, "message"), "", hash.slice(0, 40));
    await tab.close();
  }
  done("script in every field, a fragment of 1 MB and malformed data: harmless, and the page says so");
}

/** Pays for the card of the payment page from the command line, while the page of the order is open. */
async function orderPage(browser, options, sandbox, lost) {
  const tab = await openTab(browser, options);
  await tab.goto(`${options.origin}/send`);
  await write(tab, { ...CARD, message: `${CARD.message} Order page.` });
  await preview(tab);
  await follow(tab, "#pay-form button");
  const { order, request } = await due(tab);
  assert.ok(await kept(tab));
  await tab.goto(`${options.origin}/orders/${order}?lang=de`);
  assert.equal(await tab.$eval("#order", (found) => found.dataset.status), "unpaid");
  await check(tab, "order-unpaid");
  const file = join(sandbox.folder, "order.json");
  writeFileSync(file, request.body);
  const args = ["pay", "--body", file, "--base-url", sandbox.site, "--sandbox", sandbox.chain, "--rail", "x402", "--yes"];
  const { status, stdout, stderr } = spawnSync(binary, args, { ...sandbox.options, encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
  await until("the page follows the order by itself", () =>
    tab.$eval("#order", (found) => !["unpaid", "payment_pending"].includes(found.dataset.status)));
  assert.equal(await kept(tab), null, "the card is forgotten once it is paid");
  assert.match(await tab.$eval("#order-said", (found) => found.textContent), /\S/);
  for (const language of Object.keys(LANGUAGES)) {
    await tab.goto(`${options.origin}/orders/${order}?lang=${language}`);
    assert.match(await tab.$eval(".facts", (found) => found.textContent), /0x[0-9a-f]{64}/);
    const text = await tab.content();
    assert.ok(!MARKED.some((word) => text.includes(word)), "no personal data");
    await check(tab, `order-paid-${language}`);
  }
  assert.equal((await tab.goto(`${options.origin}/orders/${"0".repeat(32)}?lang=it`)).status(), 404);
  await check(tab, "order-unknown");
  assert.equal((await tab.goto(`${options.origin}/orders/zz?lang=es`)).status(), 400);
  await check(tab, "order-malformed");
  await tab.close();
  const owed = await openTab(browser, { ...options, screen: PHONE, script: false });
  await owed.goto(`${options.origin}/orders/${lost}`);
  assert.equal(await owed.$eval("#order", (found) => found.dataset.status), "fulfillment_needs_reconciliation");
  await check(owed, "order-owed");
  await owed.close();
  done("order page: follows a payment by itself, four languages, unknown and malformed numbers, no personal data");
}

const sandbox = await Sandbox.start(binary);
const recorder = await Recorder.start(sandbox.site);
const browser = await launch();
const options = { origin: recorder.origin, images: new URL(sandbox.provider).origin, complaints, screen: DESKTOP };
try {
  // First, because the sandbox's clock is fast, and the command line signs by its own.
  const lost = await sandbox.payLost();
  await orderPage(browser, options, sandbox, lost);
  await handOff(browser, options, sandbox, recorder);
  await hostileLinks(browser, options);
  for (const language of Object.keys(LANGUAGES)) {
    await withJavaScript(browser, { ...options, screen: PHONE }, language);
    if (isShort && language !== "en") continue;
    await withJavaScript(browser, { ...options, screen: DESKTOP }, language);
    await withoutJavaScript(browser, { ...options, screen: language === "en" ? DESKTOP : PHONE }, language);
  }
} catch (error) {
  console.log(sandbox.output.split("\n").slice(-30).join("\n"));
  for (const complaint of complaints) console.log(`  FAIL  ${complaint}`);
  throw error;
} finally {
  await browser.close();
  recorder.stop();
  await sandbox.stop();
}
for (const complaint of complaints) console.log(`  FAIL  ${complaint}`);
assert.equal(complaints.length, 0, "complaints about pages");
console.log(`  ${pages} pages, light and dark: no complaint`);
