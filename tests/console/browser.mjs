// A browser that an operator uses, and the checks of every page that it shows.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import puppeteer from "puppeteer-core";
import { MARKED } from "./sandbox.mjs";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const WIDTHS = [1280, 360];
const SCHEMES = ["light", "dark"];
const axe = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Without its sandbox, because it opens our own pages only and root cannot use it. */
export function launch() {
  return puppeteer.launch({
    executablePath: process.env.CHROME_PATH ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking"],
  });
}

/** A tab that reports what its pages must not do. */
export async function openTab(browser, origin, complaints) {
  const tab = await browser.newPage();
  tab.on("pageerror", (error) => complaints.push(`script: ${error.message ?? error}`));
  tab.on("request", (request) => {
    const called = new URL(request.url()).origin;
    if (called !== origin && called !== "null") complaints.push(`calls another origin: ${request.url()}`);
  });
  // The policy of the pages forbids scripts; these checks are one.
  await tab.setBypassCSP(true);
  return tab;
}

async function violations(tab) {
  await tab.evaluate(axe);
  const { violations: found } = await tab.evaluate(
    (values) => window.axe.run(document, { runOnly: { type: "tag", values }, resultTypes: ["violations"] }),
    RULES,
  );
  return found.flatMap(({ id, help, nodes }) =>
    nodes.slice(0, 3).map((node) => `axe ${id}: ${help}: ${node.target.join(" ")} ${node.html.slice(0, 120)}`));
}

/** Checks the page that a tab shows, in every width and scheme, without loading it again. */
export async function look(tab, name, { revealed = false, shots } = {}) {
  const complaints = [];
  const note = (text) => complaints.push(`${name}: ${text}`);
  const text = await tab.content();
  const marked = MARKED.filter((word) => text.includes(word));
  if (!revealed && marked.length > 0) note(`shows personal data: ${marked}`);
  if (revealed && marked.length < MARKED.length) note(`does not show the card: ${marked}`);
  if (/<script|<style|\sstyle=/.test(text)) note("has a script or a style of its own");
  for (const width of WIDTHS) {
    await tab.setViewport({ width, height: 900 });
    for (const scheme of SCHEMES) {
      await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      const wide = await tab.evaluate(() => document.scrollingElement.scrollWidth);
      if (wide > width) note(`scrolls sideways at ${width} px: ${wide} px wide`);
      if (shots) await tab.screenshot({ path: join(shots, `${name}-${width}-${scheme}.png`), fullPage: true });
      for (const found of await violations(tab)) note(`${found} [${width} ${scheme}]`);
    }
  }
  await tab.setViewport({ width: WIDTHS[0], height: 900 });
  return complaints;
}
