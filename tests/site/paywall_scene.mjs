// One scene of the tests of the payment page: a visitor, a wallet and a stub of the service.
import { judge } from "./lib.mjs";
import { CHARGE, MOST, ORDER, StubService, balance } from "./stub_service.mjs";
import { addressOf, arrive, freshKey, fund, node, policy } from "./visitor.mjs";
import { Wallet } from "./wallet.mjs";

export const GAS = "10000000000000000000";
export const rich = { usdc: "10000000", native: GAS, permit2_allowance: String(MOST) };
export const newcomer = { usdc: "10000000", native: GAS };
export const CARD = JSON.stringify({
  front_image_url: "https://images.example.org/sea.jpg",
  message: "Dear Ada,\n\nthe sea says hello, and so do I. The build is green and the harbour is quiet.\n\nYour Charles",
  recipient: { name: "Ada Lovelace", address: "12 St James Square", city: "London", province: "London", postal_code: "SW1Y 4JH", country: "GB" },
}, null, 2);

/** One browser session with its own stub service, payer and wallet. */
export async function scene(line, act, { chain = 8453, holds = rich, wallet = {}, others = [], stub = {}, ...view } = {}) {
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
export async function isPaid(visit, shop, purse, { chain = 8453, name = "Base", usdc = 10_000_000n } = {}) {
  await visit.outcome();
  await visit.says("Paid", ORDER, "2.1175 USDC of at most 3.50", name, shop.settled?.transaction ?? "a transaction");
  visit.equal(await balance(node(chain), chain, shop.payee), CHARGE, "the payee has");
  visit.equal(await balance(node(chain), chain, purse.account.address), usdc - CHARGE, "the payer has");
  for (const { body, key } of shop.paid) {
    visit.equal(body, shop.body, "the body");
    visit.equal(key, shop.key, "the idempotency key");
  }
  visit.equal(await visit.tab.evaluate(() => sessionStorage.length), 0, "payments kept");
  visit.equal(await visit.isShown("#payment"), false, "the form is there");
  visit.equal(await visit.text("h1"), "One postcard, paid", "the heading");
}

export const oneCredential = (visit, shop, purse, times) => {
  visit.equal(shop.paid.length, times, "payments sent");
  visit.equal(new Set(shop.paid.map(({ header }) => header)).size, 1, "different payments");
  visit.equal(purse.count("eth_signTypedData_v4"), 1, "signatures");
};

export const refusal = (status, code, retry, message, headers) => (response, shop) =>
  shop.json(response, status, { error: { code, retry, message, public_order_id: ORDER } }, headers);
