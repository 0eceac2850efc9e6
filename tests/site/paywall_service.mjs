// The service's own payment page, paid on its own chain: from the form in every language, and from the API.
import { privateKeyToAccount } from "viem/accounts";
import { base, get, judge, note } from "./lib.mjs";
import { USDC, balance } from "./stub_service.mjs";
import { ENDPOINT, addressOf, arrive, freshKey, fund, node, policy, until } from "./visitor.mjs";
import { CARD, newcomer } from "./paywall_scene.mjs";
import { Wallet } from "./wallet.mjs";

const FORMS = { en: "/send", de: "/de/send", es: "/es/send", it: "/it/send" };
const URLENCODED = "application/x-www-form-urlencoded";
const FUNDS = 10_000_000n;

/** A card that has not been ordered before. */
function freshCard() {
  const card = JSON.parse(CARD);
  return { ...card, message: `${card.message} ${freshKey().slice(2, 14)}` };
}

async function post(path, type, body, headers = {}) {
  const browser = { accept: "text/html", "user-agent": "Mozilla/5.0", "content-type": type, ...headers };
  return fetch(new URL(path, base), { method: "POST", headers: browser, body });
}

/** One visit with a funded wallet; what is wrong with it is judged. */
async function visit(line, body, options, act) {
  const key = freshKey();
  await fund(8453, addressOf(key), { ...newcomer, ...options.holds });
  const purse = new Wallet({ key, node, ...options.wallet });
  const visitor = await arrive(base, body, { wallets: [purse], ...options });
  try {
    await act(visitor, purse);
  } catch (error) {
    visitor.complaints.push(String(error.message ?? error), `the page says: ${await visitor.text("main").catch(() => "nothing")}`);
  }
  await visitor.leave();
  return judge(line, visitor.complaints);
}

/** The payer paid what the order says, once, and the page names it. */
async function isCharged(visitor, purse) {
  const order = (await visitor.text("#outcome")).match(/[0-9a-f]{32}/)[0];
  const record = await (await get(`/api/x402/orders/${order}`, "application/json")).json();
  const left = await balance(node(8453), 8453, purse.account.address);
  visitor.equal(FUNDS - left, BigInt(record.payment.amount), "the payer paid");
  visitor.demand((await visitor.text("#outcome")).includes(record.payment.transaction), "another transaction");
  return record;
}

/** The preview of the form, and the quote that its payment names. */
async function quoteOf(path, fields) {
  const answer = await post(path, URLENCODED, new URLSearchParams({ ...fields, step: "preview" }));
  const html = await answer.text();
  const id = html.match(/name="quote_id" value="([0-9a-f]{64})"/)?.[1];
  if (!id) throw new Error(`${path} answered ${answer.status} without a quote`);
  return { id, charge: BigInt(`0x${id.slice(0, 16)}`) };
}

/** The order's page shows that the provider has the card, also after a reload and to a person who returns to it. */
async function isFollowed(visitor) {
  const { tab } = visitor;
  const status = () => tab.$eval("#order", (order) => order.dataset.status);
  await until("the order's page shows the submission", async () => (await status()) === "submitted");
  await tab.reload();
  visitor.equal(await status(), "submitted", "the status after a reload");
  const address = tab.url();
  await tab.goto("about:blank");
  await tab.goto(address);
  visitor.equal(await status(), "submitted", "the status to a person who returns");
}

async function fromTheForm(language, width) {
  const { recipient, ...card } = freshCard();
  const fields = { picture: "own", ...card, ...recipient };
  const path = FORMS[language];
  const quote = await quoteOf(path, fields);
  const body = new URLSearchParams({ ...fields, step: "pay", quote_id: quote.id }).toString();
  const answer = await post(path, URLENCODED, body, { "accept-language": "fr" });
  const line = `from the form in ${language} at ${width} px: quoted, paid on the service's own chain, followed, reloaded`;
  await visit(line, body, { entry: { path, type: URLENCODED }, width }, async (visitor, purse) => {
    visitor.equal(answer.status, 402, "the status");
    visitor.equal(answer.headers.get("content-language"), language, "its language");
    visitor.equal(answer.headers.get("cache-control"), "no-store", "it may be kept");
    const words = await visitor.words();
    visitor.equal(await visitor.tab.$eval("html", (html) => html.lang), language, "the language of the page");
    await visitor.layout(width);
    await visitor.accessibility();
    await visitor.pay();
    await visitor.says(words.outcome_paid, words.outcome_paid_text, "0x");
    const record = await isCharged(visitor, purse);
    visitor.demand(BigInt(record.payment.amount) <= quote.charge, `charged ${record.payment.amount}, quoted ${quote.charge}`);
    await visitor.picture(`service-${language}-${width}`);
    await Promise.all([visitor.tab.waitForNavigation(), visitor.press("#follow")]);
    visitor.equal(await visitor.tab.$eval("html", (html) => html.lang), language, "the language of the order's page");
    visitor.demand((await visitor.text("main")).includes(record.payment.transaction), "the order's page names no transaction");
    await isFollowed(visitor);
  });
}

async function fromTheApi() {
  const body = JSON.stringify({ ...freshCard(), operation_id: `paywall-${freshKey().slice(2, 34)}` });
  const answer = await post(ENDPOINT, "application/json", body, { "accept-language": "it-IT, de;q=0.5" });
  await visit("from the API: paid on the service's own chain", body, { width: 320 }, async (visitor, purse) => {
    visitor.equal(answer.status, 402, "the status");
    visitor.equal(answer.headers.get("content-language"), "it", "the language that the browser prefers");
    visitor.equal(answer.headers.get("cache-control"), "no-store", "it may be kept");
    visitor.equal(answer.headers.get("content-security-policy"), policy, "its policy");
    await visitor.pay();
    await visitor.says("Paid", "USDC of at most 3.50", "0x");
    await isCharged(visitor, purse);
  });
}

async function strictDelegate() {
  const code = `0xef0100${USDC[8453].slice(2)}`;
  const isPlaced = await fund(8453, addressOf(freshKey()), { code }).then(() => true, () => false);
  if (!isPlaced) return note("this chain cannot give an account code, so no delegate is tried");
  return visit("a delegate that does not confirm the signature (EIP-7702): approve, and the reason", JSON.stringify(freshCard()), { holds: { code } }, async (visitor, purse) => {
    await visitor.pay();
    await visitor.says("Not paid", "EIP-7702", "Switch the smart account off");
    visitor.equal(purse.count("eth_sendTransaction"), 1, "transactions");
    visitor.equal(await balance(node(8453), 8453, purse.account.address), FUNDS, "the payer has");
  });
}

async function refusals() {
  const other = { wallet: { signer: privateKeyToAccount(freshKey()) } };
  await visit("a wallet that signs with another account", JSON.stringify(freshCard()), other, async (visitor, purse) => {
    await visitor.pay();
    await visitor.says("Not paid", "Nothing was paid");
    visitor.equal(await balance(node(8453), 8453, purse.account.address), FUNDS, "the payer has");
    purse.signer = null;
    await visitor.pay();
    await until("it is paid", async () => (await visitor.text("#outcome")).includes("Paid"));
    await isCharged(visitor, purse);
  });

  await visit("two tabs that pay at once: one charge", JSON.stringify(freshCard()), {}, async (visitor, purse) => {
    const second = await visitor.anotherTab([purse]);
    await second.tab.evaluate(() => Object.defineProperty(navigator, "locks", { value: undefined }));
    await Promise.all([visitor.tab, second.tab].map((tab) => tab.evaluate(() => document.getElementById("payment").requestSubmit())));
    for (const one of [visitor, second]) await until("both have an outcome", () => one.isShown("#outcome"));
    const told = await Promise.all([visitor.text("#outcome"), second.text("#outcome")]);
    const paid = told.find((text) => text.includes("Paid"));
    visitor.demand(paid !== undefined, `neither is paid: ${told.join(" | ")}`);
    const order = paid.match(/[0-9a-f]{32}/)[0];
    const record = await (await get(`/api/x402/orders/${order}`, "application/json")).json();
    const left = await balance(node(8453), 8453, purse.account.address);
    visitor.equal(FUNDS - left, BigInt(record.payment.amount), "the payer paid");
  });
}

/** The payment page of BASE_URL, if its chain is known. */
export async function service() {
  if (!process.env.RPC_URL) return note("RPC_URL is not set, so the service's own page is not paid");
  for (const language of Object.keys(FORMS)) {
    for (const width of [320, 1280]) await fromTheForm(language, width);
  }
  await fromTheApi();
  await strictDelegate();
  return refusals();
}
