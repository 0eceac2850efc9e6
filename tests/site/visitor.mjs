// Shared by the tests of the paywall: a funded chain, and a browser session that records what is wrong.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { privateKeyToAccount } from "viem/accounts";
import { browser, get } from "./lib.mjs";
import { inject } from "./wallet.mjs";

export const ENDPOINT = "/api/x402/postcards";
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const PATIENCE_MILLISECONDS = 60_000;
const axe = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");

// The chain -----------------------------------------------------------------------------

async function chains() {
  if (process.env.RPC_URL) return { rpc: process.env.RPC_URL, stop() {} };
  const child = spawn(process.env.PAYWALL_CHAINS, [], { stdio: ["pipe", "pipe", "inherit"] });
  const origin = await new Promise((resolve, reject) => {
    child.stdout.once("data", (line) => resolve(String(line).trim()));
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the chains ended with ${code}`)));
  });
  return { rpc: `${origin}/{chain}`, stop: () => child.stdin.end() };
}

const { rpc, stop } = await chains();
export const node = (chain) => rpc.replace("{chain}", chain);

export async function fund(chain, address, account) {
  const url = new URL(`/__sandbox/${chain}/accounts/${address}`, rpc);
  const response = await fetch(url, { method: "POST", body: JSON.stringify(account) });
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`);
}

let keys = 0;
/** A new key, so that every balance begins at 0. */
export const freshKey = () => `0x${(keys += 1).toString(16).padStart(4, "0")}${process.pid.toString(16).padStart(8, "0")}${"7e".repeat(26)}`;
export const addressOf = (key) => privateKeyToAccount(key).address;

// The browser ----------------------------------------------------------------------------

export const policy = (await get("/")).headers.get("content-security-policy");
const chromium = await browser();

/** Polls until `look` returns true; `what` is in the error after the time is over. */
export async function until(what, look) {
  const end = Date.now() + PATIENCE_MILLISECONDS;
  while (Date.now() < end) {
    if (await look()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`timed out waiting until ${what}`);
}

class Visit {
  complaints = [];
  dialogs = [];

  constructor(tab) {
    this.tab = tab;
  }

  demand(holds, what) {
    if (!holds) this.complaints.push(what);
  }

  equal(found, expected, what) {
    this.demand(found === expected, `${what}: ${found}, not ${expected}`);
  }

  text(selector) {
    return this.tab.$eval(selector, (found) => (found.checkVisibility() ? found.innerText : ""));
  }

  isShown(selector) {
    return this.tab.$eval(selector, (found) => found.checkVisibility());
  }

  /** The outcome of an attempt, once it is shown. */
  async outcome() {
    await until("there is an outcome", () => this.isShown("#outcome"));
    return this.text("#outcome");
  }

  async says(...words) {
    const text = await this.outcome();
    for (const word of words) this.demand(text.includes(word), `the outcome does not say ${JSON.stringify(word)}: ${text}`);
  }

  async press(selector) {
    await this.tab.click(selector);
  }

  async pay() {
    await this.press("#pay");
  }

  /** The texts of the page's scripts, by key. */
  words() {
    return this.tab.$eval("#paywall-texts", (found) => JSON.parse(found.textContent).words);
  }

  async picture(name) {
    if (!process.env.SHOTS) return;
    mkdirSync(process.env.SHOTS, { recursive: true });
    await this.tab.screenshot({ path: `${process.env.SHOTS}/${name}.png`, fullPage: true });
  }

  async layout(width) {
    const seen = await this.tab.evaluate(() => ({
      scroll: document.scrollingElement.scrollWidth, inner: window.innerWidth, headings: document.querySelectorAll("h1").length,
    }));
    this.demand(seen.scroll <= seen.inner && seen.inner <= width, `scrolls sideways: ${seen.scroll} px wide`);
    this.equal(seen.headings, 1, "h1");
  }

  /** Call it last: axe needs scripts, and the page may have been opened without. */
  async accessibility() {
    await this.tab.setJavaScriptEnabled(true);
    await this.tab.evaluate(axe);
    const { violations } = await this.tab.evaluate(
      (values) => window.axe.run(document, { runOnly: { type: "tag", values }, resultTypes: ["violations"] }), RULES);
    for (const { id, help, nodes } of violations) {
      this.complaints.push(`axe ${id}: ${help}: ${nodes.slice(0, 3).map(({ target, html }) => `${target.join(" ")} ${html.slice(0, 120)}`).join("; ")}`);
    }
  }
}

/** Records what a page must not do: log errors, break its policy or call another origin. */
function watch(visit, tab, origin) {
  const { complaints, entry } = visit;
  tab.on("console", (message) => {
    if (message.type() !== "error") return;
    // Chromium reports every answer that is not a success; the page itself is one (402).
    const expected = message.text().startsWith("Failed to load resource") && [ENDPOINT, entry.path].some((path) => message.location().url === origin + path);
    if (!expected) complaints.push(`console: ${message.text()} ${message.location().url ?? ""}`);
  });
  tab.on("pageerror", (error) => complaints.push(`script: ${error.message ?? error}`));
  tab.on("dialog", (dialog) => {
    visit.dialogs.push(dialog.type());
    dialog.accept();
  });
  tab.on("request", (request) => {
    const { origin: asked, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && asked !== origin) complaints.push(`calls another origin: ${request.url()}`);
    // No link leads here: the browser posts the card.
    if (!request.isNavigationRequest() || new URL(request.url()).pathname !== entry.path) return request.continue();
    const headers = { ...request.headers(), "content-type": entry.type, ...visit.headers };
    return request.continue({ method: "POST", postData: visit.body, headers });
  });
}

/** Opens the payment page in a tab of the visit's own browser context. */
async function openTab(visit, tab, origin, { wallets, width, scheme, scripts }) {
  const phone = width < 600;
  await tab.setViewport({ width, height: 800, isMobile: phone, hasTouch: phone });
  await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  if (wallets.length > 0) await inject(tab, wallets);
  await tab.setRequestInterception(true);
  watch(visit, tab, origin);
  await tab.evaluateOnNewDocument(() => {
    window.heard = [];
    addEventListener("DOMContentLoaded", () => {
      const said = document.getElementById("said");
      if (!said) return;
      new MutationObserver(() => said.textContent && window.heard.push(said.textContent)).observe(said, { childList: true, characterData: true, subtree: true });
    });
  });
  await tab.setJavaScriptEnabled(scripts);
  await tab.goto(origin + visit.entry.path, { waitUntil: "networkidle0" });
}

const JSON_ENTRY = { path: ENDPOINT, type: "application/json" };

/** `entry` is where the browser posts the body: the API, or the form at /send. */
export async function arrive(origin, body, { wallets = [], width = 1280, scheme = "light", scripts = true, headers = {}, entry = JSON_ENTRY } = {}) {
  const context = await chromium.createBrowserContext();
  const visit = new Visit(await context.newPage());
  Object.assign(visit, { body, headers, entry, context, origin });
  const view = { wallets, width, scheme, scripts };
  await openTab(visit, visit.tab, origin, view);
  visit.leave = () => context.close();
  /** The same page in another tab of the same browser. */
  visit.anotherTab = async (others) => {
    const second = new Visit(await context.newPage());
    Object.assign(second, { body, headers, entry, complaints: visit.complaints });
    await openTab(second, second.tab, origin, { ...view, wallets: others });
    return second;
  };
  return visit;
}

/** Closes the browser, and the chain if we started it. */
export async function goHome() {
  await chromium.close();
  stop();
}
