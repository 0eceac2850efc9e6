// Double clicks, two tabs, the back button, and wallets that lie or announce themselves badly: at most one charge, and
// a page that tells the truth.
import { ORDER } from "./stub_service.mjs";
import { addressOf, freshKey, until } from "./visitor.mjs";
import { Wallet } from "./wallet.mjs";
import { isPaid, oneCredential, refusal, scene } from "./paywall_scene.mjs";
import { privateKeyToAccount } from "viem/accounts";

const pending = refusal(502, "settlement_unconfirmed", "same", "The settlement is not confirmed yet.");
const isSaid = (visit, word) => until(`it says ${word}`, async () => (await visit.text("#outcome")).includes(word));

/** A promise with its resolution. */
function gate() {
  let open;
  const passed = new Promise((resolve) => (open = resolve));
  return { open, passed };
}

async function repeating() {
  await scene("a double click signs and pays once", async (visit, shop, purse) => {
    await visit.tab.click("#pay", { count: 2 });
    await visit.tab.evaluate(() => document.getElementById("payment").requestSubmit());
    await isPaid(visit, shop, purse);
    oneCredential(visit, shop, purse, 1);
  });

  await scene("a second tab does not sign while the first one pays, and then shows that it is paid", async (visit, shop, purse) => {
    const { open, passed } = gate();
    purse.answers = { eth_signTypedData_v4: async (params, sign) => (await passed, sign()) };
    await visit.pay();
    await until("the wallet is asked", () => purse.count("eth_signTypedData_v4") === 1);
    const second = await visit.anotherTab([purse]);
    await second.pay();
    await second.says("Being paid already", "Nothing was signed here");
    visit.demand(!(await second.isShown("#payment")), "the second tab still offers to pay");
    open();
    await visit.tab.bringToFront();
    await isPaid(visit, shop, purse);
    await second.tab.bringToFront();
    await isSaid(second, "Paid");
    visit.demand((await second.text("#outcome")).includes(shop.settled.transaction), "the second tab names another transaction");
    oneCredential(visit, shop, purse, 1);
  });

  await scene("a second tab can pay after the first one was declined", async (visit, shop, purse) => {
    const { open, passed } = gate();
    purse.answers = { eth_requestAccounts: async (params, ask) => (await passed, ask()) };
    await visit.pay();
    await until("the wallet is asked", () => purse.count("eth_requestAccounts") === 1);
    const second = await visit.anotherTab([purse]);
    await second.pay();
    await second.says("Being paid already");
    purse.answers = {};
    purse.declined.add("eth_signTypedData_v4");
    open();
    await isSaid(visit, "Not paid");
    await second.tab.bringToFront();
    await until("the second tab offers to pay", () => second.isShown("#payment"));
    purse.declined.clear();
    await second.pay();
    await isSaid(second, "Paid");
    visit.equal(shop.paid.length, 1, "payments sent");
  });

  await scene("back and forward while unconfirmed: the same payment, once", async (visit, shop, purse) => {
    shop.instead.push(pending);
    await visit.pay();
    await visit.says("Not certain yet");
    await visit.tab.goto(`${shop.origin}/favicon.svg`);
    await visit.tab.goBack({ waitUntil: "networkidle0" });
    visit.equal(visit.dialogs.join(), "beforeunload", "warnings before leaving");
    await visit.says("Not certain yet", "You signed a payment for this order before");
    visit.demand(!(await visit.isShown("#payment")), "it offers to sign again");
    await visit.press("#outcome button");
    await isSaid(visit, "Paid");
    await isPaid(visit, shop, purse);
    oneCredential(visit, shop, purse, 2);
  });

  await scene("an open payment: the page finds out by itself", async (visit, shop, purse) => {
    shop.instead.push(pending);
    await visit.pay();
    await visit.says("Not certain yet", "Do not pay again");
    await shop.settle({ writeHead: () => ({ end() {} }) }, shop.paid[0].header);
    await isSaid(visit, "Paid");
    await isPaid(visit, shop, purse);
    oneCredential(visit, shop, purse, 1);
  });
}

async function lying() {
  await scene("a wallet that stays on another network: nothing is signed", async (visit, shop, purse) => {
    purse.answers = { eth_chainId: () => "0x1", wallet_switchEthereumChain: () => null };
    await visit.pay();
    await visit.says("Not paid", "The wallet is not on Base", "Change to Base");
    visit.equal(purse.count("eth_signTypedData_v4") + shop.paid.length, 0, "signatures and payments");
  });

  await scene("a wallet that names one network and reads another: nothing is signed", async (visit, shop, purse) => {
    purse.answers = { eth_call: () => "0x" };
    await visit.pay();
    await visit.says("Not paid", "cannot see USDC");
    visit.equal(purse.count("eth_signTypedData_v4") + shop.paid.length, 0, "signatures and payments");
  });

  await scene("a wallet that changes its network while it signs: nothing is sent", async (visit, shop, purse) => {
    purse.answers = {
      eth_signTypedData_v4: (params, sign) => {
        purse.answers.eth_chainId = () => "0x89";
        return sign();
      },
    };
    await visit.pay();
    await visit.says("Not paid", "The wallet is not on Base");
    visit.equal(shop.paid.length, 0, "payments sent");
  });

  await scene("a wallet that changes its account while it signs: nothing is sent", async (visit, shop, purse) => {
    const other = addressOf(freshKey());
    purse.answers = {
      eth_signTypedData_v4: (params, sign) => {
        purse.answers.eth_accounts = () => [other];
        return sign();
      },
    };
    await visit.pay();
    await visit.says("Not paid", "another account", "Nothing was paid");
    visit.equal(shop.paid.length, 0, "payments sent");
  });

  await scene("a wallet that signs with another account is refused with the reason", async (visit, shop, purse) => {
    shop.instead.push((response) => shop.demand(response, 402, "invalid_permit2_signature"));
    await visit.pay();
    await visit.says("Not paid", "does not belong to this account", "Choose the account that signs");
    visit.equal(await visit.tab.evaluate(() => sessionStorage.length), 0, "payments kept");
  }, { wallet: { signer: privateKeyToAccount(freshKey()) } });

  await scene("a wallet whose answers are no answers", async (visit, shop, purse) => {
    for (const [method, answer, said] of [
      ["eth_requestAccounts", [{ toString: "0x" }], "showed no account"],
      ["eth_requestAccounts", null, "showed no account"],
      ["eth_signTypedData_v4", "0x1234", "gave no signature"],
      ["eth_signTypedData_v4", { r: 1 }, "gave no signature"],
    ]) {
      purse.answers = { [method]: () => answer };
      await visit.pay();
      await isSaid(visit, said);
    }
    visit.equal(shop.paid.length, 0, "payments sent");
  });
}

async function announcing() {
  const name = "<img src=x onerror='window.broken = 1'>\u202eevil";
  const bad = new Wallet({ key: freshKey(), node: () => "", name, icon: "https://images.example.org/track.png" });
  const late = new Wallet({ key: freshKey(), node: () => "", name: "Late wallet", late: true });
  await scene("names of wallets are text, icons are data, and a late wallet is added", async (visit) => {
    const labels = () => visit.tab.$$eval("#wallets label", (all) => all.map((label) => label.innerText.trim()));
    visit.equal((await labels()).join(" | "), `First | ${name.replace("\u202e", "")}`, "wallets");
    visit.equal(await visit.tab.$$eval("#wallets img", (all) => all.length), 1, "icons");
    await visit.press("[name=wallet][value='1']");
    await visit.tab.evaluate(() => {
      const hostile = { get provider() { throw new Error("no"); } };
      for (const detail of [hostile, null, { provider: {} }, { provider: { request: 7 } }]) {
        window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
      }
      window.announceLate();
      window.announceLate();
    });
    visit.equal((await labels()).length, 3, "wallets");
    visit.equal(await visit.tab.$eval("#payment", (form) => form.elements.wallet.value), "1", "the choice");
    visit.equal(await visit.tab.evaluate(() => window.broken), undefined, "code that ran");
    visit.demand((await visit.text("#terms")).includes(ORDER), "the page is broken");
  }, { wallet: { name: "First" }, others: [bad, late] });

  await scene("a wallet that comes after the page was shown without one", async (visit, shop, purse) => {
    visit.demand(await visit.isShown("#no-wallet"), "it does not say that there is no wallet");
    await visit.tab.evaluate(() => window.announceLate());
    visit.demand(!(await visit.isShown("#no-wallet")), "it still misses a wallet");
    await visit.pay();
    await isPaid(visit, shop, purse);
  }, { wallet: { name: "Late wallet", late: true } });
}

export async function hostile() {
  await repeating();
  await lying();
  await announcing();
}
