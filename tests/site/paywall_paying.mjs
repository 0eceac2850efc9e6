// Payments that succeed, each in its own way.
import { CHARGE, MOST, allowance } from "./stub_service.mjs";
import { fund, freshKey, node, until } from "./visitor.mjs";
import { Wallet } from "./wallet.mjs";
import { isPaid, newcomer, oneCredential, scene } from "./paywall_scene.mjs";

export async function paying() {
  await scene("with the keyboard, on a network new to the wallet, with a first permission", async (visit, shop, purse) => {
    const active = () => visit.tab.evaluate(() => document.activeElement.name || document.activeElement.id);
    const seen = [];
    for (let press = 0; press < 12 && seen.at(-1) !== "network"; press += 1) {
      await visit.tab.keyboard.press("Tab");
      seen.push(await active());
    }
    visit.demand(seen.includes("wallet"), `the wallet cannot be reached: ${seen}`);
    await visit.tab.keyboard.press("ArrowRight");
    visit.equal(await visit.tab.$eval("#payment", (form) => form.elements.network.value), "eip155:137", "the network");
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
