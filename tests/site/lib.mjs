// What every check of the public face shares: the address, the pages, the browser and the verdict.
import puppeteer from "puppeteer-core";

const address = process.argv[2] ?? process.env.BASE_URL;
if (!address) throw new Error("usage: <check>.mjs BASE_URL");
export const base = new URL(address).origin;

// Addresses that are no page of their own, so the sitemap is right to leave them out.
const ALIASES = ["/de/", "/es/", "/it/"];
const MISSING = "/no-such-page";

let failures = 0;
let passes = 0;

export function pass(line) {
  passes += 1;
  console.log(`  ok    ${line}`);
}

export function fail(line, details = []) {
  failures += 1;
  console.log(`  FAIL  ${line}`);
  for (const detail of details) console.log(`          ${detail}`);
}

export function note(line) {
  console.log(`  note  ${line}`);
}

/** One line for a thing that was held against several rules: what is wrong with it, or that nothing is. */
export function judge(line, complaints) {
  if (complaints.length === 0) pass(line);
  else fail(line, complaints);
}

/** The last line of every check. A check that looked at nothing has not passed. */
export function verdict() {
  console.log(`  ${passes} passed, ${failures} failed`);
  process.exitCode = failures === 0 && passes > 0 ? 0 : 1;
}

/** Asks as a browser would, and does not follow a redirect behind our back. */
export function get(path, accept = "text/html,*/*;q=0.8") {
  return fetch(new URL(path, base), { headers: { accept }, redirect: "manual" });
}

/** The paths in the sitemap, and the origin under which it lists them. */
export async function sitemap() {
  const answer = await get("/sitemap.xml", "application/xml");
  if (answer.status !== 200) throw new Error(`/sitemap.xml answered ${answer.status}`);
  const listed = [...(await answer.text()).matchAll(/<loc>\s*([^<]+?)\s*<\/loc>/g)]
    .map(([, address]) => new URL(address.replaceAll("&amp;", "&")));
  if (listed.length === 0) throw new Error("/sitemap.xml lists no page");
  const [{ origin }] = listed;
  const stray = listed.find((address) => address.origin !== origin);
  if (stray) throw new Error(`/sitemap.xml lists two sites: ${origin} and ${stray.origin}`);
  if (origin !== base) note(`the sitemap speaks for ${origin}; its paths are read from ${base}`);
  return { origin, paths: [...new Set(listed.map((address) => address.pathname + address.search))] };
}

/** Every HTML page there is: path, the status it must answer with, and its text. */
export async function pages() {
  const wanted = (await sitemap()).paths.map((path) => ({ path, status: 200 }));
  for (const path of ALIASES) {
    if (!wanted.some((page) => page.path === path)) wanted.push({ path, status: 200 });
  }
  wanted.push({ path: MISSING, status: 404 });
  const found = [];
  for (const page of wanted) {
    const answer = await get(page.path);
    const type = answer.headers.get("content-type") ?? "nothing";
    const text = await answer.text();
    if (answer.status !== page.status) fail(`${page.path} answered ${answer.status}, not ${page.status}`);
    else if (type.startsWith("text/html")) found.push({ ...page, text });
    // A sitemap may list documents too; an alias or a missing page is for people.
    else if (ALIASES.includes(page.path) || page.status === 404) fail(`${page.path} is ${type}, not HTML`);
    else note(`${page.path} is ${type} and left to the links`);
  }
  return found;
}

/**
 * Debian's Chromium. Without its sandbox, because it opens nothing but our own pages and root may not have one;
 * with WebMCP, because otherwise our script for it does nothing and nobody would see it break.
 */
export function browser() {
  return puppeteer.launch({
    executablePath: process.env.CHROME_PATH ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking",
      "--enable-features=WebMCP"],
  });
}
