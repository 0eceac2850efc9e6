// An operator in the console: sees orders, resubmits a card, records a refund, reveals and erases one.
//
//   node main.mjs BINARY
//
// SHOTS=folder saves a screenshot of every page.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { launch, look, openTab } from "./browser.mjs";
import { Sandbox, until } from "./sandbox.mjs";

const [binary] = process.argv.slice(2);
const shots = process.env.SHOTS;
if (shots) mkdirSync(shots, { recursive: true });

const complaints = [];
let pages = 0;
const done = (line) => console.log(`  ok    ${line}`);

async function check(tab, name, options = {}) {
  pages += 1;
  complaints.push(...(await look(tab, name, { shots, ...options })));
}

/** Clicks something that loads another page, and returns the response. */
async function follow(tab, selector) {
  // A tab in the background does not react to clicks.
  await tab.bringToFront();
  const [response] = await Promise.all([tab.waitForNavigation({ waitUntil: "load" }), tab.click(selector)]);
  return response;
}

const heading = (tab) => tab.$eval("h1", (found) => found.textContent.trim());
const notice = (tab) => tab.$eval(".notice", (found) => found.textContent.trim());

async function logIn(tab, { console: origin, token }) {
  const refused = await tab.goto(`${origin}/`);
  assert.equal(refused.status(), 401, "a page without a session asks for the token");
  await tab.type("#operator", "ada");
  await tab.type("#token", "x".repeat(64));
  assert.equal((await follow(tab, "main button")).status(), 401);
  await check(tab, "login");
  await tab.type("#operator", "ada");
  await tab.type("#token", token);
  assert.equal((await follow(tab, "main button")).status(), 200);
  done("login: only with the token");
}

/** Fills in the form of an action on an order's page and sends it: the page that asks to confirm. */
async function begin(tab, action, { note, ...fields }) {
  const form = `form[action$="/${action}"]`;
  await tab.$eval(form, (found) => found.closest("details").setAttribute("open", ""));
  for (const [name, value] of Object.entries({ ...fields, note })) await tab.type(`${form} input[name=${name}]`, value);
  return follow(tab, `${form} button`);
}

const confirm = (tab) => follow(tab, "form[action*='/orders/'] button");

/**
 * Performs an action, and returns the response. The payment may become final meanwhile, so that an action may be told
 * that its order has changed; then the operator looks again, and repeats it. `inspect` is called once, while the page
 * asks to confirm.
 */
async function act(tab, page, action, fields, inspect = async () => {}) {
  let inspected = false;
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await tab.goto(page);
    const asked = await begin(tab, action, fields);
    if (asked.status() === 200) {
      if (!inspected) await inspect();
      inspected = true;
      const response = await confirm(tab);
      if (response.status() === 200 || !(await hasChanged(tab))) return response;
    } else if (!(await hasChanged(tab))) return asked;
  }
  throw new Error(`${action}: the order changes all the time`);
}

const hasChanged = async (tab) => /has changed since it was shown/.test(await notice(tab));

async function resubmission(tab, sandbox, order) {
  const before = await sandbox.accepted();
  await tab.goto(`${sandbox.console}/`);
  const listed = await tab.$$eval(".urgent .orders a", (links) => links.map((link) => link.getAttribute("href")));
  assert.ok(listed.includes(`/console/orders/${order}`), "it is listed as needing attention");
  const page = `${sandbox.console}/console/orders/${order}`;
  await tab.goto(page);
  for (const details of await tab.$$("details")) await details.evaluate((one) => one.setAttribute("open", ""));
  await check(tab, "order-lost");
  const asked = async () => {
    assert.equal(await heading(tab), "Resubmit the card?");
    assert.equal(await sandbox.accepted(), before, "nothing is submitted before it is confirmed");
    await check(tab, "confirm-resubmit");
  };
  const fields = { note: "the provider has no such card" };
  let inspect = asked;
  const resubmitted = async () => {
    const status = (await act(tab, page, "resubmit", fields, inspect)).status();
    inspect = undefined;
    if (status !== 200) assert.match(await notice(tab), /Resubmit it after/, "only the grace period forbids it");
    return status === 200;
  };
  await until("the grace period is over", resubmitted);
  assert.match(await notice(tab), /the provider has accepted it/);
  await check(tab, "result-resubmit");
  assert.equal(await sandbox.accepted(), before + 1);
  const shown = await sandbox.show(order);
  assert.equal(shown.state, "mailed");
  assert.match(byOperator(shown)[0].note, /resubmit: the provider has no such card/);
  await follow(tab, "main .button");
  await check(tab, "order-mailed");
  done("resubmission: the provider has one card more, and the event names the operator");
}

const byOperator = ({ events }) => events.filter(({ actor }) => actor === "operator:ada");

async function refund(tab, sandbox, order) {
  const page = `${sandbox.console}/console/orders/${order}`;
  const wrong = { transaction: `0x${"12".repeat(32)}`, note: "a wrong one" };
  assert.equal((await act(tab, page, "refund", wrong)).status(), 409);
  assert.match(await notice(tab), /does not know this transaction\. Nothing was changed/);
  await check(tab, "result-refund-rejected");
  assert.equal((await sandbox.show(order)).state, "unfulfilled_lost");
  const right = { transaction: await sandbox.returnCharge(order), note: "returned" };
  assert.equal((await act(tab, page, "refund", right, () => check(tab, "confirm-refund"))).status(), 200);
  assert.match(await notice(tab), /The transaction proves the refund/);
  assert.equal((await sandbox.show(order)).state, "refunded");
  await tab.goto(page);
  assert.equal(await tab.$("form[action$='/refund']"), null, "it is not offered again");
  await check(tab, "order-refunded");
  await tab.goto(`${page}/evidence`);
  await check(tab, "evidence");
  done("refund: a wrong transaction is rejected, the right one is recorded");
}

/** Two tabs on one order: the second is told that it has changed. */
async function twoTabs(browser, tab, sandbox, order) {
  const other = await openTab(browser, sandbox.console, complaints);
  const page = `${sandbox.console}/console/orders/${order}`;
  await other.goto(page);
  const revealed = await act(tab, page, "reveal", { note: "the payer asks for the spelling" });
  assert.equal(revealed.status(), 200);
  assert.equal(revealed.headers()["cache-control"], "no-store");
  await check(tab, "card", { revealed: true });
  assert.equal((await begin(other, "erase", { note: "late" })).status(), 409);
  assert.ok(await hasChanged(other));
  await other.goto(page);
  assert.match(await other.$eval(".timeline", (found) => found.textContent), /reveal: the payer asks/);
  assert.equal((await act(other, page, "acknowledge", { note: "the payer is told" })).status(), 200);
  await other.goto(`${sandbox.console}/`);
  const urgent = await other.$$eval(".urgent .orders a", (links) => links.map((link) => link.getAttribute("href")));
  assert.ok(!urgent.includes(`/console/orders/${order}`), "it needs no attention any more");
  const erased = await act(other, page, "erase", { note: "it cannot be printed" }, () => check(other, "confirm-erase"));
  assert.equal(erased.status(), 200);
  assert.equal((await sandbox.show(order)).state, "unfulfilled_erased");
  await other.close();
  done("two tabs: the second is told; reveal, acknowledge and erase are recorded");
}

/** A form that a page of another origin sends, also with the session's own CSRF token, changes nothing. */
async function otherOrigin(browser, tab, sandbox, order) {
  const page = `${sandbox.console}/console/orders/${order}`;
  await tab.goto(page);
  const { version } = await sandbox.show(order);
  const csrf = await tab.$eval("input[name=csrf]", (found) => found.value);
  const fields = { csrf, version, note: "forged", confirmed: "yes" };
  const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`).join("");
  const html = `<form method="post" action="${page}/acknowledge">${inputs}<button>Win</button></form>`;
  const server = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end(html));
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address();
  // The same site, so that the browser sends the cookie with it; another site.
  for (const host of ["127.0.0.1", "localhost"]) {
    const forged = await browser.newPage();
    await forged.goto(`http://${host}:${port}/`);
    assert.equal((await follow(forged, "button")).status(), 403, host);
    await forged.close();
  }
  server.close();
  server.closeAllConnections();
  await tab.$eval("form[action$='/acknowledge'] input[name=csrf]", (found) => found.remove());
  assert.equal((await begin(tab, "acknowledge", { note: "without its token" })).status(), 403);
  assert.deepEqual(byOperator(await sandbox.show(order)), []);
  done("forms of other origins and forms without the CSRF token are rejected");
}

async function lists(tab, sandbox, mailed) {
  await tab.goto(`${sandbox.console}/`);
  await check(tab, "orders");
  await tab.select("#state", "mailed");
  await follow(tab, ".filters button");
  const listed = await tab.$$eval(".orders a", (links) => links.map((link) => link.getAttribute("href")));
  assert.deepEqual(listed, [`/console/orders/${mailed}`]);
  await check(tab, "orders-filtered");
  assert.equal((await tab.goto(`${sandbox.console}/?payer=0x12`)).status(), 400);
  assert.equal((await tab.goto(`${sandbox.console}/console/orders/${"0".repeat(32)}`)).status(), 404);
  await check(tab, "no-such-order");
  done("list: filtered by state; an invalid filter is an error");
}

async function money(tab, sandbox) {
  const page = await tab.goto(`${sandbox.console}/money`);
  const policy = page.headers()["content-security-policy"];
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|script-src/);
  assert.equal((await tab.$$("svg[role=img]")).length, 3);
  await check(tab, "money");
  done("money: three charts");
}

async function logOut(tab, sandbox) {
  await follow(tab, ".who button");
  assert.equal((await tab.goto(`${sandbox.console}/money`)).status(), 401);
  done("logged out");
}

const sandbox = await Sandbox.start(binary);
const browser = await launch();
try {
  const mailed = await sandbox.pay();
  const lost = [await sandbox.payLost(), await sandbox.payLost(), await sandbox.payLost()];
  const tab = await openTab(browser, sandbox.console, complaints);
  await logIn(tab, sandbox);
  await lists(tab, sandbox, mailed);
  await refund(tab, sandbox, lost[1]);
  await otherOrigin(browser, tab, sandbox, lost[2]);
  await twoTabs(browser, tab, sandbox, lost[2]);
  await resubmission(tab, sandbox, lost[0]);
  await money(tab, sandbox);
  await logOut(tab, sandbox);
} catch (error) {
  console.log(sandbox.output.split("\n").slice(-30).join("\n"));
  throw error;
} finally {
  await browser.close();
  await sandbox.stop();
}
for (const complaint of complaints) console.log(`  FAIL  ${complaint}`);
assert.equal(complaints.length, 0, "complaints about pages");
console.log(`  ${pages} pages at two widths, light and dark: no complaint`);
