// Pays on the paywall page in a browser, with a wallet that signs and a chain that settles.
//
//   node paywall.mjs [BASE_URL [markup] [paying] [failing] [hostile] [accounts] [service] [looking]]
//
// BASE_URL is the service, whose content security policy applies to the page too. RPC_URL is the emulated chain with
// `{chain}` in place of the chain id; without it PAYWALL_CHAINS is started, the example `chains` of the sandbox.
// PAYWALL_WRITER is the example `paywall` of content, which renders the page. With RPC_URL the service's own page is
// paid as well. SHOTS is a folder for screenshots.
import { HtmlValidate, StaticConfigLoader } from "html-validate";
import { judge, verdict } from "./lib.mjs";
import { ORDER, StubService, carrier } from "./stub_service.mjs";
import { addressOf, freshKey, fund, goHome, node, policy, until } from "./visitor.mjs";
import { accounts } from "./paywall_accounts.mjs";
import { failing } from "./paywall_failing.mjs";
import { hostile } from "./paywall_hostile.mjs";
import { paying } from "./paywall_paying.mjs";
import { CARD, GAS, isPaid, refusal, scene } from "./paywall_scene.mjs";
import { service } from "./paywall_service.mjs";

// How it looks --------------------------------------------------------------------------------

/** Each width and each scheme once; with PAYWALL_LOOKS=all every combination. */
const LOOKS = [[1280, "light"], [320, "dark"]];
if (process.env.PAYWALL_LOOKS === "all") LOOKS.push([1280, "dark"], [320, "light"]);

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
    visit.demand(!(await visit.isShown("#payment")), "it offers to pay");
  }, { wallets: [] });
  await looks("without JavaScript", async (visit) => {
    visit.demand(await visit.isShown("noscript"), "it does not say that scripts are off");
    for (const word of ["3.50 USDC", ORDER, "Polygon", "pennyblack pay", "Usually less"]) {
      visit.demand((await visit.text("main")).includes(word), `it does not say ${word}`);
    }
    visit.demand(!(await visit.isShown("#payment")) && !(await visit.isShown("#outcome")), "it shows what only scripts can do");
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

try {
  const parts = { markup, paying, failing, hostile, accounts, service, looking };
  const wanted = process.argv.slice(3);
  const asked = Object.keys(parts).filter((name) => wanted.length === 0 || wanted.includes(name));
  // The service's own page does not need the stub's settler account.
  if (asked.some((name) => name !== "service")) for (const chain of [8453, 137, 42161]) await fund(chain, carrier.address, { native: GAS });
  for (const name of asked) await parts[name]();
} finally {
  await goHome();
}
verdict();
