// Follows every link on every page and in llms.txt, without scripts: links to our own site must work.
import { base, browser, get, judge, note, pages, sitemap, verdict } from "./lib.mjs";

// A 402 is not a broken link.
const MAY_ASK_FOR_MONEY = /^\/(api(\/|$)|shop\/checkout$)/;

const { origin } = await sitemap();
const answers = new Map(); // a path, and a promise of what it answered
const outward = new Set();

/** All links of a page, and all ids in it. */
async function read(tab, path) {
  await tab.goto(new URL(path, base).href, { waitUntil: "domcontentloaded" });
  return tab.evaluate(() => ({
    links: [
      ...[...document.querySelectorAll("a[href], area[href], link[href]")].map((element) => element.href),
      ...[...document.querySelectorAll("img[src], script[src], source[src]")].map((element) => element.src),
    ],
    places: [...document.querySelectorAll("[id], a[name]")].map((element) => element.id || element.name),
  }));
}

/** Links in Markdown, and URLs in angle brackets. */
function readMarkdown(text) {
  return [...text.matchAll(/\]\(([^()\s]+)\)|<(https?:[^<>\s]+)>/g)].map(([, link, bare]) => link ?? bare);
}

async function ask(path) {
  const answer = await get(path);
  await answer.body?.cancel();
  return { status: answer.status, html: (answer.headers.get("content-type") ?? "").startsWith("text/html") };
}

async function complaint(tab, places, from, link) {
  const target = new URL(link, new URL(from, base));
  if (!target.protocol.startsWith("http")) return null;
  if (target.origin !== base && target.origin !== origin) {
    outward.add(target.href);
    return null;
  }
  const path = target.pathname + target.search;
  if (!answers.has(path)) answers.set(path, ask(path));
  const { status, html } = await answers.get(path);
  const itself = path === from; // a 404 page that points at its own parts
  if (status !== 200 && !itself && !(status === 402 && MAY_ASK_FOR_MONEY.test(target.pathname))) {
    return `${link} answers ${status}`;
  }
  const fragment = decodeURIComponent(target.hash.slice(1));
  if (fragment === "" || fragment === "top" || !html) return null;
  if (!places.has(path)) places.set(path, new Set((await read(tab, path)).places));
  return places.get(path).has(fragment) ? null : `${link} points to an id that does not exist`;
}

async function follow(tab, places, from, links) {
  const distinct = [...new Set(links)];
  const complaints = [];
  for (const link of distinct) {
    const found = await complaint(tab, places, from, link);
    if (found) complaints.push(found);
  }
  judge(`${from}: ${distinct.length} links`, complaints);
}

const chromium = await browser();
try {
  const tab = await chromium.newPage();
  await tab.setJavaScriptEnabled(false);
  const places = new Map(); // a path, and the places in it
  for (const { path } of await pages()) {
    const page = await read(tab, path);
    places.set(path, new Set(page.places));
    await follow(tab, places, path, page.links);
  }
  const index = await get("/llms.txt", "text/plain");
  if (index.status === 200) await follow(tab, places, "/llms.txt", readMarkdown(await index.text()));
  else judge("/llms.txt", [`answers ${index.status}`]);
} finally {
  await chromium.close();
}
note(`${answers.size} URLs of our own requested; ${outward.size} external URLs not checked`);
verdict();
