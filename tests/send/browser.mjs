// A browser in which a person writes a card, and the checks of every page that it shows.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 360, height: 760, isMobile: true, hasTouch: true };
const SCHEMES = ["light", "dark"];
const axe = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** A tab that reports what its pages must not do. `images` is the only other host, that of the previews. */
export async function openTab(browser, { origin, images, complaints, script = true, screen = DESKTOP }) {
  const context = await browser.createBrowserContext();
  const tab = await context.newPage();
  await tab.setViewport(screen);
  await tab.setJavaScriptEnabled(script);
  if (!script) unscripted.add(tab);
  tab.on("pageerror", (error) => complaints.push(`script: ${error.message ?? error}`));
  tab.on("dialog", async (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    await dialog.accept();
  });
  tab.on("console", (message) => {
    // A response of 400, 402 or 404 is reported too, and is wanted; so is 503 beyond the limit of previews.
    if (message.type() === "error" && !/status of (4\d\d|503)/.test(message.text())) complaints.push(`console: ${message.text()}`);
  });
  tab.on("request", (request) => {
    const called = new URL(request.url());
    const known = [origin, images].includes(called.origin) || called.protocol === "data:";
    if (!known) complaints.push(`calls another origin: ${request.url()}`);
  });
  return tab;
}

/** Tabs whose pages run no script. */
const unscripted = new WeakSet();

async function violations(tab) {
  // The rules need timers, which a tab without scripts does not have. The scripts of the page do not run by this.
  if (unscripted.has(tab)) await tab.setJavaScriptEnabled(true);
  await tab.evaluate(axe);
  const { violations: found } = await tab.evaluate(
    (values) => window.axe.run(document, { runOnly: { type: "tag", values }, resultTypes: ["violations"] }),
    RULES,
  );
  if (unscripted.has(tab)) await tab.setJavaScriptEnabled(false);
  return found.flatMap(({ id, help, nodes }) =>
    nodes.slice(0, 3).map((node) => `axe ${id}: ${help}: ${node.target.join(" ")} ${node.html.slice(0, 120)}`));
}

/** Checks the page that a tab shows, light and dark, without loading it again. */
export async function look(tab, name, shots) {
  const complaints = [];
  const { width } = tab.viewport();
  for (const scheme of SCHEMES) {
    await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    // Colours that still change would be judged as they are now.
    await tab.evaluate(() => document.getAnimations().forEach((one) => one.finish()));
    const wide = await tab.evaluate(() => Math.max(document.scrollingElement.scrollWidth, innerWidth));
    if (wide > width) complaints.push(`${name}: scrolls sideways at ${width} px: ${wide} px wide`);
    const headings = await tab.$$eval("h1", (found) => found.length);
    if (headings !== 1) complaints.push(`${name}: has ${headings} h1`);
    if (shots) await tab.screenshot({ path: join(shots, `${name}-${width}-${scheme}.png`), fullPage: true });
    for (const found of await violations(tab)) complaints.push(`${name}: ${found} [${width} ${scheme}]`);
  }
  await tab.emulateMediaFeatures([]);
  return complaints;
}

/** Clicks something that loads another page, and returns the response. */
export async function follow(tab, selector) {
  await tab.bringToFront();
  const [response] = await Promise.all([
    tab.waitForNavigation({ waitUntil: "load" }),
    tab.$eval(selector, (found) => found.click()),
  ]);
  return response;
}

export const value = (tab, id) => tab.$eval(`#${id}`, (found) => found.value);
export const isShown = (tab, id) => tab.$eval(`#${id}`, (found) => !found.hidden && found.offsetParent !== null);
