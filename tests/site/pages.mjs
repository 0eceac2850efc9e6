// Opens every page in a browser, at two widths, light and dark, and checks it with axe and our own rules.
import { readFileSync } from "node:fs";
import { base, browser, judge, pages, verdict } from "./lib.mjs";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const WIDTHS = [1280, 360];
const SCHEMES = ["light", "dark"];
const axe = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Records what the page must not do while it loads. */
function watch(tab, { path, status }, complaints) {
  const own = new URL(path, base).href;
  tab.on("console", (message) => {
    if (message.type() !== "error") return;
    // Chromium reports the 404 of the page that we requested.
    if (status === 404 && message.location().url === own) return;
    complaints.push(`console: ${message.text()} ${message.location().url ?? ""}`);
  });
  tab.on("pageerror", (error) => complaints.push(`script: ${error.message ?? error}`));
  tab.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== base) complaints.push(`calls another origin: ${request.url()}`);
  });
}

async function layout(tab, width) {
  const seen = await tab.evaluate(() => ({
    scroll: document.scrollingElement.scrollWidth,
    inner: window.innerWidth,
    headings: document.querySelectorAll("h1").length,
  }));
  const complaints = [];
  // A phone zooms out if a page is too wide: then innerWidth grows too.
  if (seen.scroll > seen.inner || seen.inner > width) complaints.push(`scrolls sideways: ${seen.scroll} px wide`);
  if (seen.headings !== 1) complaints.push(`has ${seen.headings} h1`);
  return complaints;
}

async function accessibility(tab) {
  await tab.evaluate(axe);
  const { violations } = await tab.evaluate(
    (values) => window.axe.run(document, { runOnly: { type: "tag", values }, resultTypes: ["violations"] }),
    RULES,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.slice(0, 3).map((node) => `axe ${id}: ${help}: ${node.target.join(" ")}  ${node.html.slice(0, 120)}`));
}

async function look(chromium, page, width, scheme) {
  const complaints = [];
  const tab = await chromium.newPage();
  watch(tab, page, complaints);
  const phone = width < 600;
  await tab.setViewport({ width, height: 800, isMobile: phone, hasTouch: phone });
  await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await tab.goto(new URL(page.path, base).href, { waitUntil: "networkidle0" });
  complaints.push(...(await layout(tab, width)), ...(await accessibility(tab)));
  await tab.close();
  return complaints.map((complaint) => ({ complaint, seen: `${width} ${scheme}` }));
}

/** Each complaint once, with all variants in which it appeared. */
function gather(found) {
  const looks = Map.groupBy(found, ({ complaint }) => complaint);
  return [...looks].map(([complaint, all]) => `${complaint}  [${[...new Set(all.map(({ seen }) => seen))].join(", ")}]`);
}

const chromium = await browser();
try {
  for (const page of await pages()) {
    // Concurrently, because each variant mostly waits until the network is idle.
    const looks = WIDTHS.flatMap((width) => SCHEMES.map((scheme) => look(chromium, page, width, scheme)));
    judge(`${page.path} at ${WIDTHS.join(" and ")} px, ${SCHEMES.join(" and ")}`, gather((await Promise.all(looks)).flat()));
  }
} finally {
  await chromium.close();
}
verdict();
