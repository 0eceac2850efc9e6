// Shared by all checks of the site: base URL, pages, browser and result.
import puppeteer from "puppeteer-core";

const address = process.argv[2] ?? process.env.BASE_URL;
if (!address) throw new Error("usage: <check>.mjs BASE_URL");
export const base = new URL(address).origin;

// Aliases of pages, which the sitemap must not list.
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

/** Prints one line for something that was checked by several rules, and what is wrong with it. */
export function judge(line, complaints) {
  if (complaints.length === 0) pass(line);
  else fail(line, complaints);
}

/** The last line of every check. A check without results has failed. */
export function verdict() {
  console.log(`  ${passes} passed, ${failures} failed`);
  process.exitCode = failures === 0 && passes > 0 ? 0 : 1;
}

/** Sends a request as a browser would, without following redirects. */
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
  if (origin !== base) note(`the sitemap is for ${origin}; its paths are read from ${base}`);
  return { origin, paths: [...new Set(listed.map((address) => address.pathname + address.search))] };
}

/** All HTML pages: path, expected status and text. */
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
    // A sitemap may list documents too, but an alias or the 404 page must be HTML.
    else if (ALIASES.includes(page.path) || page.status === 404) fail(`${page.path} is ${type}, not HTML`);
    else note(`${page.path} is ${type}; only its links are checked`);
  }
  return found;
}

/**
 * Debian's Chromium. Without its sandbox, because it opens our own pages only and root cannot use it; with WebMCP,
 * because otherwise our script for it would not be tested.
 */
export function browser() {
  return puppeteer.launch({
    executablePath: process.env.CHROME_PATH ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking",
      "--enable-features=WebMCP"],
  });
}
