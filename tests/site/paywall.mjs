// Pays on the paywall page in a browser, with a wallet that signs and a chain that settles.
//
//   node paywall.mjs [BASE_URL [markup] [paying] [failing] [service] [looking]]
//
// BASE_URL is the service, whose content security policy applies to the page too. RPC_URL is the emulated chain with
// `{chain}` in place of the chain id; without it PAYWALL_CHAINS is started, the example `chains` of the sandbox.
// PAYWALL_WRITER is the example `paywall` of content, which renders the page. With RPC_URL the service's own page is
// paid as well. SHOTS is a folder for screenshots.
import { HtmlValidate, StaticConfigLoader } from "html-validate";
import { base, get, judge, note, verdict } from "./lib.mjs";
import { CHARGE, MOST, ORDER, StubService, allowance, balance, carrier } from "./stub_service.mjs";
import { ENDPOINT, addressOf, arrive, freshKey, fund, goHome, node, policy, until } from "./visitor.mjs";
import { Wallet } from "./wallet.mjs";

const GAS = "10000000000000000000";
const rich = { usdc: "10000000", native: GAS, permit2_allowance: String(MOST) };
const newcomer = { usdc: "10000000", native: GAS };
const CARD = JSON.stringify({
  front_image_url: "https://images.example.org/sea.jpg",
  message: "Dear Ada,\n\nthe sea says hello, and so do I. The build is green and the harbour is quiet.\n\nYour Charles",
  recipient: { name: "Ada Lovelace", address: "12 St James Square", city: "London", province: "London", postal_code: "SW1Y 4JH", country: "GB" },
}, null, 2);

/** One browser session with its own stub service, payer and wallet. */
async function scene(line, act, { chain = 8453, holds = rich, wallet = {}, others = [], stub = {}, ...view } = {}) {
  const key = freshKey();
  const shop = await new StubService({ node, policy, payee: addressOf(freshKey()), body: CARD, ...stub }).open();
  await fund(chain, addressOf(key), holds);
  const purse = new Wallet({ key, node, ...wallet });
  const visit = await arrive(shop.origin, shop.body, { wallets: [purse, ...others], ...view });
  try {
    await act(visit, shop, purse);
    if (shop.fault) visit.complaints.push(`the stub service: ${shop.fault.message}`);
  } catch (error) {
    visit.complaints.push(String(error.message ?? error), `the page says: ${await visit.text("main").catch(() => "nothing")}`);
  }
  await visit.leave();
  await shop.close();
  judge(line, visit.complaints);
}

/** The charge moved from payer to payee, to the unit, and the page says so. */
async function isPaid(visit, shop, purse, { chain = 8453, name = "Base", usdc = 10_000_000n } = {}) {
  await visit.outcome();
  await visit.says("Paid", ORDER, "2.1175 USDC of at most 3.50", name, shop.settled?.transaction ?? "a transaction");
  visit.equal(await balance(node(chain), chain, shop.payee), CHARGE, "the payee has");
  visit.equal(await balance(node(chain), chain, purse.account.address), usdc - CHARGE, "the payer has");
  for (const { body, key } of shop.paid) {
    visit.equal(body, shop.body, "the body");
    visit.equal(key, shop.key, "the idempotency key");
  }
  visit.equal(await visit.tab.evaluate(() => sessionStorage.length), 0, "payments kept");
  visit.equal(await visit.isShown("#till"), false, "the form is there");
  visit.equal(await visit.text("h1"), "One postcard, paid", "the heading");
}

const oneCredential = (visit, shop, purse, times) => {
  visit.equal(shop.paid.length, times, "payments sent");
  visit.equal(new Set(shop.paid.map(({ header }) => header)).size, 1, "different payments");
  visit.equal(purse.count("eth_signTypedData_v4"), 1, "signatures");
};

const refusal = (status, code, retry, message, headers) => (response, shop) =>
  shop.json(response, status, { error: { code, retry, message, public_order_id: ORDER } }, headers);

// How it looks --------------------------------------------------------------------------------

/** Each width and each scheme once; with PAYWALL_LOOKS=all every combination. */
const LOOKS = [[1280, "light"], [360, "dark"]];
if (process.env.PAYWALL_LOOKS === "all") LOOKS.push([1280, "dark"], [360, "light"]);

async function looks(name, act, options = {}) {
  for (const [width, scheme] of LOOKS) {
    await scene(`${name}, ${width} px, ${scheme}`, async (visit, shop, purse) => {
      await act(visit, shop, purse);
      await visit.layout(width);
      await visit.picture(`${name.replaceAll(" ", "-")}-${width}-${scheme}`);
      await visit.accessibility();
    }, { ...options, width, scheme });
  }
}

async function looking() {
  await looks("before", async (visit) => {
    visit.demand(await visit.isShown("#pay"), "there is no button");
    visit.demand(!(await visit.isShown("#no-wallet")), "it misses a wallet");
    visit.demand((await visit.text("#card")).includes("Ada Lovelace"), "the card is not shown");
  });
  await looks("without a wallet", async (visit) => {
    visit.demand(await visit.isShown("#no-wallet"), "it does not say that there is no wallet");
    visit.demand(!(await visit.isShown("#till")), "it offers to pay");
  }, { wallets: [] });
  await looks("without JavaScript", async (visit) => {
    visit.demand(await visit.isShown("noscript"), "it does not say that scripts are off");
    for (const word of ["3.50 USDC", ORDER, "Polygon", "pennyblack pay", "Usually less"]) {
      visit.demand((await visit.text("main")).includes(word), `it does not say ${word}`);
    }
    visit.demand(!(await visit.isShown("#till")) && !(await visit.isShown("#outcome")), "it shows what only scripts can do");
  }, { wallets: [], scripts: false });
  await looks("paid", async (visit, shop, purse) => {
    await visit.pay();
    await isPaid(visit, shop, purse);
  });
  await looks("in doubt", async (visit, shop) => {
    shop.instead.push(refusal(502, "settlement_unconfirmed", "same", "We cannot tell yet whether the payment moved.", { "retry-after": "5" }));
    await visit.pay();
    await visit.says("Not certain yet", "Please wait 5 seconds", "502");
  });
  await looks("at work", async (visit, shop) => {
    shop.instead.push(() => true);
    await visit.pay();
    await until("the payment is sent", () => shop.paid.length === 1);
    visit.equal(await visit.tab.$eval("#pay", (button) => button.getAttribute("aria-disabled")), "true", "the button is busy");
  });
}

async function markup() {
  const validator = new HtmlValidate(new StaticConfigLoader({ root: true, extends: ["html-validate:standard"] }));
  const shop = await new StubService({ node, policy, payee: addressOf(freshKey()), body: CARD }).open();
  await shop.close();
  const { results } = await validator.validateString(shop.page, "paywall");
  judge("the markup", results.flatMap(({ messages }) => messages.map(({ line, column, ruleId, message }) => `${line}:${column} ${ruleId}: ${message}`)));
}

// How it pays ----------------------------------------------------------------------------------

async function paying() {
  await scene("with the keyboard, on a network new to the wallet, with a first permission", async (visit, shop, purse) => {
    const active = () => visit.tab.evaluate(() => document.activeElement.name || document.activeElement.id);
    const seen = [];
    for (let press = 0; press < 12 && seen.at(-1) !== "network"; press += 1) {
      await visit.tab.keyboard.press("Tab");
      seen.push(await active());
    }
    visit.demand(seen.includes("wallet"), `the wallet cannot be reached: ${seen}`);
    await visit.tab.keyboard.press("ArrowRight");
    visit.equal(await visit.tab.$eval("#till", (form) => form.elements.network.value), "eip155:137", "the network");
    await visit.tab.keyboard.press("Tab");
    visit.equal(await active(), "pay", "after the networks comes");
    await visit.tab.keyboard.press("Enter");
    await isPaid(visit, shop, purse, { chain: 137, name: "Polygon" });
    visit.equal(await active(), "outcome", "at the end the reader is at");
    visit.equal(purse.introduced[0]?.chainId, "0x89", "the wallet was told of");
    visit.equal(purse.introduced[0]?.rpcUrls[0], node(137), "with the node");
    visit.equal(purse.count("eth_sendTransaction"), 1, "transactions");
    visit.equal(await allowance(node(137), 137, purse.account.address), MOST - CHARGE, "what Permit2 may still move");
    const heard = (await visit.tab.evaluate(() => window.heard)).join(" | ");
    for (const word of ["see your address", "change to Polygon", "does not know Polygon", "let Permit2 move", "confirm the permission", "sign the payment", "on its way"]) {
      visit.demand(heard.includes(word), `not announced: ${word}: ${heard}`);
    }
    oneCredential(visit, shop, purse, 1);
  }, { chain: 137, holds: newcomer });

  await scene("sponsored: without gas and without an allowance", async (visit, shop, purse) => {
    await visit.pay();
    await isPaid(visit, shop, purse);
    visit.equal(purse.count("eth_sendTransaction"), 0, "transactions");
    visit.equal(purse.count("eth_signTypedData_v4"), 2, "signatures");
  }, { holds: { usdc: "10000000" }, stub: { sponsored: true } });

  await scene("a sponsor is not needed where the allowance is there", async (visit, shop, purse) => {
    await visit.pay();
    await isPaid(visit, shop, purse);
    oneCredential(visit, shop, purse, 1);
  }, { stub: { sponsored: true, key: "an-operation-of-my-own" } });

  await scene("412: the permission, then the same payment again", async (visit, shop, purse) => {
    shop.instead.push(async () => {
      await fund(8453, purse.account.address, { permit2_allowance: "0" });
      return false;
    });
    await visit.pay();
    await isPaid(visit, shop, purse);
    visit.equal(purse.count("eth_sendTransaction"), 1, "transactions");
    oneCredential(visit, shop, purse, 2);
  });

  await scene("412: declined, kept, and given after all", async (visit, shop, purse) => {
    shop.instead.push(async () => {
      await fund(8453, purse.account.address, { permit2_allowance: "0" });
      return false;
    });
    purse.declined.add("eth_sendTransaction");
    await visit.pay();
    await visit.says("You declined in the wallet", "is kept", "Do not pay again");
    purse.declined.clear();
    await visit.press("#outcome button");
    await until("it is paid", async () => (await visit.text("#outcome")).includes("Paid"));
    await isPaid(visit, shop, purse);
    visit.equal(purse.count("eth_signTypedData_v4"), 1, "signatures");
  });

  await scene("a choice of two wallets", async (visit, shop, purse) => {
    visit.equal(await visit.tab.$$eval("[name=wallet]", (all) => all.length), 2, "wallets");
    await visit.press("[name=wallet][value='1']");
    visit.equal(await visit.tab.$eval(".choice img", (icon) => icon.width), 24, "an icon is wide");
    await visit.layout(1280);
    await visit.picture("two-wallets-1280");
    await visit.pay();
    await visit.says("Not paid", "0.00 USDC on Base", "3.50 must be there");
    await visit.press("[name=wallet][value='0']");
    await visit.pay();
    await until("it is paid", async () => (await visit.text("#outcome")).includes("Paid"));
    visit.equal(shop.paid.length, 1, "payments sent");
  }, { wallet: { name: "First purse" }, others: [new Wallet({ key: freshKey(), node, name: "Second purse" })] });
}

// How it fails ---------------------------------------------------------------------------------

async function failing() {
  for (const method of ["eth_requestAccounts", "eth_signTypedData_v4"]) {
    await scene(`declined: ${method}, and paid after all`, async (visit, shop, purse) => {
      purse.declined.add(method);
      await visit.pay();
      await visit.says("Not paid", "You declined in the wallet. Nothing was paid.");
      visit.equal(shop.paid.length, 0, "payments sent");
      purse.declined.clear();
      await visit.pay();
      await until("it is paid", async () => (await visit.text("#outcome")).includes("Paid"));
      await isPaid(visit, shop, purse);
    });
  }

  await scene("declined: another network", async (visit, shop, purse) => {
    purse.declined.add("wallet_switchEthereumChain");
    await visit.press("[value='eip155:42161']");
    await visit.pay();
    await visit.says("Not paid", "You declined in the wallet");
    visit.equal(purse.count("eth_signTypedData_v4"), 0, "signatures");
  });

  await scene("too little USDC", async (visit, shop, purse) => {
    await visit.pay();
    await visit.says("Not paid", "has 3.499999 USDC on Base, and 3.50 must be there");
    visit.equal(purse.count("eth_signTypedData_v4") + shop.paid.length, 0, "signatures and payments");
  }, { holds: { usdc: "3499999", native: GAS } });

  await scene("402: a reason, and a new payment", async (visit, shop, purse) => {
    shop.instead.push((response) => shop.demand(response, 402, "permit2_deadline_expired"));
    await visit.pay();
    await visit.says("Not paid", "nothing moved", "grown too old", "You may pay again");
    await visit.pay();
    await until("it is paid", async () => (await visit.text("#outcome")).includes("Paid"));
    await isPaid(visit, shop, purse);
    visit.equal(new Set(shop.paid.map(({ header }) => header)).size, 2, "different payments");
  });

  await scene("402 with a transaction is in doubt", async (visit, shop, purse) => {
    const pending = { success: false, errorReason: "settlement_pending", transaction: `0x${"ab".repeat(32)}`, network: "eip155:8453" };
    shop.instead.push((response) => shop.json(response, 402, {}, { "payment-response": Buffer.from(JSON.stringify(pending)).toString("base64") }));
    await visit.pay();
    await visit.says("Not certain yet", pending.transaction, "Do not pay again");
    await visit.press("#outcome button");
    await until("it is paid", async () => (await visit.text("#outcome")).includes("Paid"));
    oneCredential(visit, shop, purse, 2);
  });

  await scene("409: the price is above the ceiling, and nothing is left to do", async (visit, shop) => {
    shop.instead.push(refusal(409, "price_conflict", "never", "This card costs more than 3.50 USDC. Nothing moved."));
    await visit.pay();
    await visit.says("This order cannot be paid here", "costs more than 3.50 USDC", "409, price conflict");
    visit.demand(!(await visit.isShown("#till")) && !(await visit.tab.$("#outcome button")), "it still offers to pay");
    visit.equal(await visit.tab.evaluate(() => sessionStorage.length), 0, "payments kept");
  });

  await scene("409: in progress, asked again", async (visit, shop, purse) => {
    shop.instead.push(refusal(409, "order_state_conflict", "same", "The same request is being worked on. Look at the order."));
    await visit.pay();
    await visit.says("Not certain yet", "being worked on");
    await visit.press("#outcome button");
    await until("it is paid", async () => (await visit.text("#outcome")).includes("Paid"));
    await isPaid(visit, shop, purse);
    oneCredential(visit, shop, purse, 2);
  });

  await scene("502, a reload, and 503: one payment, sent until it is certain", async (visit, shop, purse) => {
    shop.instead.push(refusal(502, "settlement_unconfirmed", "same", "We cannot tell yet whether the payment moved."));
    await visit.pay();
    await visit.says("Not certain yet", "502, settlement unconfirmed");
    await visit.tab.reload({ waitUntil: "networkidle0" });
    visit.equal(visit.dialogs.join(), "beforeunload", "warnings before leaving");
    await visit.says("Not certain yet", "You signed a payment for this order before");
    visit.demand(!(await visit.isShown("#till")), "it offers to sign again");
    shop.instead.push(refusal(503, "storage_busy", "same", "Storage is busy. Send the same request again."));
    await visit.press("#outcome button");
    await until("it says 503", async () => (await visit.text("#outcome")).includes("503, storage busy"));
    await visit.press("#outcome button");
    await until("it is paid", async () => (await visit.text("#outcome")).includes("Paid"));
    await isPaid(visit, shop, purse);
    oneCredential(visit, shop, purse, 3);
  });

  await scene("a connection that is cut after the money moved: asked again, paid once", async (visit, shop, purse) => {
    shop.instead.push(async (response) => {
      await shop.settle({ writeHead: () => ({ end() {} }) }, shop.paid[0].header);
      // Chromium sends a request again by itself if nothing came back, so something does.
      response.writeHead(200, { "content-length": 1_000 }).write("{", () => response.destroy());
      return true;
    });
    await visit.pay();
    await visit.says("Not certain yet", "No answer came back");
    await visit.press("#outcome button");
    await until("it is paid", async () => (await visit.text("#outcome")).includes("Paid"));
    await isPaid(visit, shop, purse);
    oneCredential(visit, shop, purse, 2);
  });

  await scene("an unreadable answer is in doubt", async (visit, shop, purse) => {
    shop.instead.push((response) => response.writeHead(500, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>"));
    await visit.pay();
    await visit.says("Not certain yet", "answered with 500");
    await visit.press("#outcome button");
    await until("it is paid", async () => (await visit.text("#outcome")).includes("Paid"));
    oneCredential(visit, shop, purse, 2);
  });

  await scene("paid elsewhere in the meantime: nothing is signed", async (visit, shop, purse) => {
    shop.record = { id: ORDER, status: "payment_pending" };
    await visit.pay();
    await visit.says("Being paid already", "Nothing was signed here", "payment pending");
    visit.equal(purse.count("eth_signTypedData_v4") + shop.paid.length, 0, "signatures and payments");
  });

  const hostile = "</script><script>window.broken = 1</script><!--<script>]]>'\"\\\u2028<img src=x onerror='window.broken = 1'>&lt;b&gt;{{ 7 }}😀";
  await scene("hostile text is shown as text", async (visit, shop, purse) => {
    visit.demand((await visit.text("#card-message")).includes("<img src=x onerror="), "the words are not shown as words");
    await visit.pay();
    await isPaid(visit, shop, purse);
    visit.equal(await visit.tab.evaluate(() => window.broken), undefined, "code that ran");
  }, { stub: { body: JSON.stringify({ ...JSON.parse(CARD), message: hostile, recipient: { name: hostile, address: 7, city: null } }) } });
}

// The service's own page -------------------------------------------------------------------------

/** The paywall of BASE_URL, if its chain is known. */
async function service() {
  if (!process.env.RPC_URL) return note("RPC_URL is not set, so the service's own page is not paid");
  const body = JSON.stringify({ ...JSON.parse(CARD), operation_id: `paywall-${freshKey().slice(2, 34)}` });
  const headers = { "content-type": "application/json", accept: "text/html", "user-agent": "Mozilla/5.0" };
  const answer = await fetch(new URL(ENDPOINT, base), { method: "POST", headers, body });
  const page = await answer.text();
  const isPage = answer.status === 402 && answer.headers.get("content-type")?.startsWith("text/html");
  if (!isPage) return judge("the service's own page", [`the endpoint answered ${answer.status} ${answer.headers.get("content-type")}: ${page.slice(0, 200)}`]);
  const key = freshKey();
  await fund(8453, addressOf(key), newcomer);
  const purse = new Wallet({ key, node });
  const visit = await arrive(base, body, { wallets: [purse], width: 360 });
  try {
    visit.equal(answer.headers.get("cache-control"), "no-store", "it may be kept");
    visit.equal(answer.headers.get("content-security-policy"), policy, "its policy");
    await visit.layout(360);
    await visit.accessibility();
    await visit.pay();
    await visit.says("Paid", "USDC of at most 3.50", "0x");
    const order = (await visit.text("#outcome")).match(/[0-9a-f]{32}/)[0];
    const record = await (await get(`/api/x402/orders/${order}`, "application/json")).json();
    const left = await balance(node(8453), 8453, addressOf(key));
    visit.equal(10_000_000n - left, BigInt(record.payment.amount), "the payer paid");
    visit.demand((await visit.text("#outcome")).includes(record.payment.transaction), "another transaction");
    await visit.picture("service-paid-360");
  } catch (error) {
    visit.complaints.push(String(error.message ?? error), `the page says: ${await visit.text("main").catch(() => "nothing")}`);
  }
  await visit.leave();
  return judge("the service's own page, paid on its own chain", visit.complaints);
}

try {
  const parts = { markup, paying, failing, service, looking };
  const wanted = process.argv.slice(3);
  const asked = Object.keys(parts).filter((name) => wanted.length === 0 || wanted.includes(name));
  // The service's own page does not need the stub's settler account.
  if (asked.some((name) => name !== "service")) for (const chain of [8453, 137, 42161]) await fund(chain, carrier.address, { native: GAS });
  for (const name of asked) await parts[name]();
} finally {
  await goHome();
}
verdict();
