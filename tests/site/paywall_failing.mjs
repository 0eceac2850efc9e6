// Payments that are declined, refused, lost or in doubt.
import { ORDER } from "./stub_service.mjs";
import { until } from "./visitor.mjs";
import { CARD, GAS, isPaid, oneCredential, refusal, scene } from "./paywall_scene.mjs";

export async function failing() {
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
    await visit.says("Not paid", "Nothing was paid", "grown too old", "Sign again");
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
    await visit.says("This order cannot be paid here", "would cost more than 3.50 USDC", "409, price conflict");
    visit.demand(!(await visit.isShown("#payment")) && !(await visit.tab.$("#outcome button")), "it still offers to pay");
    visit.equal(await visit.tab.evaluate(() => sessionStorage.length), 0, "payments kept");
  });

  await scene("409: in progress, asked again", async (visit, shop, purse) => {
    shop.instead.push(refusal(409, "order_state_conflict", "same", "The same request is being worked on. Look at the order."));
    await visit.pay();
    await visit.says("Not certain yet", "still working on this payment");
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
    visit.demand(!(await visit.isShown("#payment")), "it offers to sign again");
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
    await visit.says("Being paid already", "Nothing was signed here", "Payment under way");
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
