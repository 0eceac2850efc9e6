// Smart wallets, quotes, phones without a wallet, and every language.
import { CHARGE, MOST, ORDER, allowance } from "./stub_service.mjs";
import { node, until } from "./visitor.mjs";
import { CARD, GAS, isPaid, newcomer, oneCredential, refusal, scene } from "./paywall_scene.mjs";

const CONTRACT = "0x6080604052";
const DELEGATE = `0xef0100${"63".repeat(20)}`;
const SUFFIX = "6492".repeat(16);
const isSaid = (visit, word) => until(`it says ${word}`, async () => (await visit.text("#outcome")).includes(word));
const heard = async (visit) => (await visit.tab.evaluate(() => window.heard)).join(" | ");

async function withCode() {
  for (const [kind, code] of [["a contract", CONTRACT], ["EIP-7702", DELEGATE]]) {
    await scene(`${kind}: a transaction instead of a permit`, async (visit, shop, purse) => {
      await visit.pay();
      await isPaid(visit, shop, purse);
      visit.equal(purse.count("eth_sendTransaction"), 1, "transactions");
      oneCredential(visit, shop, purse, 1);
      visit.equal(await allowance(node(8453), 8453, purse.account.address), MOST - CHARGE, "what Permit2 may still move");
      const said = await heard(visit);
      visit.demand(/Gas: about 0\.0*[1-9]\d? ETH/.test(said), `the gas is not said: ${said}`);
    }, { holds: newcomer, stub: { sponsored: true }, wallet: { answers: { eth_getCode: () => code } } });
  }

  await scene("a contract: what it costs is on the page before the wallet asks", async (visit, shop, purse) => {
    purse.declined.add("eth_sendTransaction");
    await visit.pay();
    await visit.says("Not paid", "You declined in the wallet");
    visit.demand((await visit.text("#steps")).includes("By a transaction of your own. Gas: about"), "the step does not name its gas");
    visit.demand((await visit.text("#account-note")).includes("A smart wallet cannot sign the free permission"), "the reason is not said");
    visit.equal(purse.count("eth_signTypedData_v4"), 0, "signatures");
  }, { holds: newcomer, stub: { sponsored: true }, wallet: { answers: { eth_getCode: () => CONTRACT } } });

  await scene("gas that cannot be estimated is said so", async (visit, shop, purse) => {
    purse.answers = { eth_estimateGas: () => { throw new Error("no"); } };
    await visit.pay();
    await isPaid(visit, shop, purse);
    visit.demand((await heard(visit)).includes("That costs a little gas"), "the gas is not mentioned");
  }, { holds: newcomer });

  await scene("no coin for the gas", async (visit, shop, purse) => {
    await visit.pay();
    await visit.says("Not paid", "no ETH in this account", "Add a little ETH on Base");
    visit.equal(purse.count("eth_sendTransaction") + purse.count("eth_signTypedData_v4"), 0, "requests to the wallet");
  }, { holds: { usdc: "10000000" } });

  await scene("an account that is not deployed: the reason and the remedy, and nothing is sent", async (visit, shop, purse) => {
    purse.answers = { eth_signTypedData_v4: async (params, sign) => `0x${"00".repeat(64)}${(await sign()).slice(2)}${SUFFIX}` };
    await visit.pay();
    await visit.says("Not paid", "does not exist on Base yet", "Deploy it by any first transaction on Base");
    visit.equal(shop.paid.length, 0, "payments sent");
  });

  await scene("a strict delegate: the reason and the remedy", async (visit, shop) => {
    shop.instead.push((response) => shop.demand(response, 402, "contract_wallet_rejected_signature"));
    await visit.pay();
    await visit.says("Not paid", "EIP-7702", "Switch the smart account off");
  }, { wallet: { answers: { eth_getCode: () => DELEGATE } } });
}

/** Every reason of a 402 has its text and its remedy. */
async function reasons() {
  await scene("every reason of a 402 is explained", async (visit, shop) => {
    const { words, reasons: known } = await visit.tab.$eval("#paywall-texts", (found) => JSON.parse(found.textContent));
    const start = (text) => text.split("{")[0].trim();
    for (const [reason, key] of [...Object.entries(known), ["some_new_reason", "refusal_other"]]) {
      const times = shop.paid.length;
      shop.instead.push((response) => shop.demand(response, 402, reason));
      await visit.pay();
      await until(`${reason} is answered`, async () => shop.paid.length > times && (await visit.isShown("#outcome")));
      const said = await visit.text("#outcome");
      for (const text of [words[key], words[`${key}_remedy`]]) visit.demand(said.includes(start(text)), `${reason}: ${said}`);
      visit.demand(!/[{}]/.test(said), `a placeholder is open: ${said}`);
    }
  });
}

async function quotes() {
  const OLD = `${"0".repeat(10)}204fce${"0".repeat(48)}`;
  const NEW = `${"0".repeat(10)}24ed20${"1".repeat(48)}`;
  const quote = { id: NEW, charge: "2.42", maximum: "3.50", currency: "USDC", country: "GB", expires_at: "2026-09-21T15:13:20Z" };
  const conflict = (response, shop) => shop.json(response, 409, {
    error: { code: "price_conflict", retry: "never", message: "This card costs more than was quoted.", public_order_id: ORDER, quote },
  });
  const inBody = { body: JSON.stringify({ ...JSON.parse(CARD), quote_id: OLD }), quoted: "2.1175" };
  for (const [where, stub] of [["body", inBody], ["header", { quote: OLD, quoted: "2.1175" }]]) {
    await scene(`a price that has risen is paid only after a press, with the quote in the ${where}`, async (visit, shop, purse) => {
      visit.demand((await visit.text("#terms")).includes("2.1175 USDC") && (await visit.text("#terms")).includes("3.50"), "charge and maximum are not shown");
      visit.equal(await visit.text("#pay"), "Pay 2.1175 USDC", "the button");
      shop.instead.push(conflict);
      await visit.pay();
      await visit.says("Not paid", "risen to 2.42 USDC", "Nothing was paid");
      visit.demand(!(await visit.isShown("#payment")), "it still offers the old price");
      visit.demand((await visit.text("#terms")).includes("2.42 USDC"), "the new price is not shown");
      visit.equal(await visit.tab.evaluate(() => sessionStorage.length), 0, "payments kept");
      visit.equal(shop.paid.length, 1, "payments sent");
      await visit.press("#outcome button");
      await isSaid(visit, "Paid");
      oneCredential(visit, shop, purse, 2);
      const sent = shop.paid.map(({ body, quote: header }) => JSON.parse(body).quote_id ?? header);
      visit.equal(sent.join(), [OLD, NEW].join(), "the quotes");
    }, { stub });
  }

  await scene("a price that has expired: back to the card", async (visit, shop) => {
    shop.instead.push(refusal(409, "quote_expired", "never", "This quote has expired."));
    await visit.pay();
    await visit.says("This price has expired", "ask for a new preview", "409, quote expired");
    visit.equal(await visit.tab.$eval("#outcome a.button", (link) => link.getAttribute("href")), "/send", "the way back");
  }, { stub: inBody });
}

async function phones() {
  const page = (origin, path) => encodeURIComponent(origin + path);
  for (const [language, path] of [["en", "/send"], ["de", "/de/send"]]) {
    await scene(`a phone without a wallet, ${language}`, async (visit, shop) => {
      visit.demand(await visit.isShown("#phone-wallets"), "no links to wallets");
      const links = await visit.tab.$$eval("#phone-wallets a", (all) => all.map((link) => link.href));
      const { host, origin } = new URL(shop.origin);
      visit.equal(links[0], `https://link.metamask.io/dapp/${host}${path}`, "MetaMask");
      visit.equal(links[1], `https://go.cb-w.com/dapp?cb_url=${page(origin, path)}`, "Coinbase Wallet");
      visit.equal(links[2], `https://go.rabby.io/mobile/?_cmd=open-dapp&dapp=${page(origin, path)}`, "Rabby");
      await visit.layout(320);
      await visit.picture(`phone-${language}-320`);
      await visit.context.overridePermissions(shop.origin, ["clipboard-read", "clipboard-write", "clipboard-sanitized-write"]);
      await visit.press("#copy-card");
      await until("it is copied", async () => (await visit.text("#copied")) !== "");
      const [form, fragment] = (await visit.tab.evaluate(() => navigator.clipboard.readText())).split("#card=");
      visit.equal(form, shop.origin + path, "the link of the card");
      visit.equal(Buffer.from(fragment, "base64url").toString(), JSON.stringify(JSON.parse(CARD)), "the card in the link");
      await visit.accessibility();
    }, { wallets: [], width: 320, stub: { language } });
  }

  await scene("a browser that does not let the page copy shows the link", async (visit) => {
    visit.demand(!(await visit.isShown("#phone-wallets")), "links to phone wallets on a desktop");
    await visit.tab.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    await visit.press("#copy-card");
    await until("the link is there", () => visit.isShown("#card-link"));
    visit.demand((await visit.tab.$eval("#card-link", (field) => field.value)).includes("/send#card="), "no link");
    await visit.layout(1280);
    await visit.accessibility();
  }, { wallets: [] });
}

async function languages() {
  for (const language of ["en", "de", "es", "it"]) {
    await scene(`a payment in ${language}`, async (visit, shop, purse) => {
      const words = await visit.words();
      const price = language === "en" ? "2.1175" : "2,1175";
      visit.equal(await visit.tab.$eval("html", (html) => html.lang), language, "the language");
      visit.demand((await visit.text("#terms")).includes(price), "the price is not in the language");
      purse.declined.add("eth_requestAccounts");
      await visit.pay();
      await visit.says(words.outcome_not_paid, words.refusal_declined, words.refusal_declined_remedy);
      purse.declined.clear();
      shop.instead.push(refusal(502, "settlement_unconfirmed", "same", "English words of the service", { "retry-after": "5" }));
      await visit.pay();
      await isSaid(visit, words.outcome_doubt_text);
      visit.demand((await visit.text("#outcome")).includes(words.payment_lead_doubt), "the doubt is not explained");
      visit.demand(!(await visit.text("main")).includes("English words"), "the service's English words are shown");
      visit.equal(await visit.text("h1"), words.payment_heading_doubt, "the heading");
      await visit.press("#outcome button");
      await isSaid(visit, words.outcome_paid_text);
      await visit.says(words.status_submitted_name, words.order_transaction, price);
      visit.equal(await visit.text("h1"), words.payment_heading_paid, "the heading");
      const link = await visit.tab.$eval("#follow", (found) => found.getAttribute("href"));
      visit.equal(link, `/orders/${ORDER}?lang=${language}`, "the way to the order");
      const said = await heard(visit);
      for (const key of ["say_connect", "say_permit", "say_sign", "say_sent"]) visit.demand(said.includes(words[key].split("{")[0]), `not announced: ${key}: ${said}`);
      // The card itself is English.
      await visit.tab.$eval("#card", (card) => card.remove());
      const left = (await visit.text("main")).match(/\b(the|your|and|this|with)\b.*/i)?.[0];
      visit.demand(language === "en" || !left, `English words are left: ${left}`);
      await visit.layout(320);
      await visit.picture(`paid-${language}-320`);
      await visit.accessibility();
    }, { width: 320, holds: { usdc: "10000000", native: GAS }, stub: { language, quoted: "2.1175", sponsored: true } });
  }
}

export async function accounts() {
  await withCode();
  await reasons();
  await quotes();
  await phones();
  await languages();
}
