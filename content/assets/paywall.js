// Pays for one postcard from the paywall page: what the person sees, and what is sent to this site.
//
// One rule stands above all others: a payment that was signed is sent again until the service says what became of
// it. Nothing new is signed before that, and a reload does not forget it.
(() => {
  "use strict";

  const SPONSORING = "eip2612GasSponsoring";
  const ANSWER_MILLISECONDS = 120_000;

  const { Stop, desk, find, usdc } = globalThis.pennyblackWallets;
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("paywall-data").textContent);
  const statusPath = `/api/x402/orders/${data.order}`;
  const most = BigInt(data.challenge.accepts?.[0]?.amount ?? 0);
  let challenge = data.challenge;

  const reasons = {
    insufficient_funds: "There is too little USDC in this account.",
    permit2_insufficient_balance: "There is too little USDC in this account.",
    permit2_deadline_expired: "The signature has grown too old.",
    permit2_simulation_failed: "The network did not take the payment.",
    invalid_permit2_signature: "The signature does not belong to this account.",
  };

  function toBase64(value) {
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  }

  /** Null for a header that is not there or that nobody can read. */
  function fromBase64(text) {
    try {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      return JSON.parse(new TextDecoder().decode(bytes));
    } catch {
      return null;
    }
  }

  // The signed payment, kept for as long as this tab lives ------------------------------

  const kept = `pennyblack:payment:${data.order}`;
  let signed = null;

  /** A browser that keeps nothing leaves it to the page. */
  function storage(act) {
    try {
      return act(sessionStorage);
    } catch {
      return null;
    }
  }

  function remember(header) {
    signed = header;
    storage((shelf) => shelf.setItem(kept, header));
  }

  function forget() {
    signed = null;
    storage((shelf) => shelf.removeItem(kept));
  }

  function recall() {
    signed ??= storage((shelf) => shelf.getItem(kept));
    return signed;
  }

  window.addEventListener("beforeunload", (event) => {
    if (signed) event.preventDefault();
  });

  // What the person sees -----------------------------------------------------------------

  const till = byId("till");
  const button = byId("pay");
  const outcome = byId("outcome");
  const wallets = [];
  let busy = false;

  const say = (text) => {
    byId("said").textContent = text;
  };
  const chosen = () => wallets[Number(till.elements.wallet?.value || 0)];
  const wallet = desk({ provider: () => chosen()?.provider, networks: data.networks, say });
  const plain = (status) => String(status).replaceAll("_", " ");

  function element(name, text, more = {}) {
    const made = Object.assign(document.createElement(name), more);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function within(name, className, ...children) {
    const made = element(name, undefined, className ? { className } : {});
    made.append(...children);
    return made;
  }

  /** The step that is being taken; all before it are done. */
  function step(now) {
    [...byId("steps").children].forEach((item, place) => {
      item.classList.toggle("done", place < now);
      if (place === now) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
  }

  function row(name, value) {
    const isCode = /^(0x)?[0-9a-f]{32,}$/i.test(value);
    return within("div", "", element("dt", name), within("dd", "", isCode ? element("code", value, { className: "long" }) : value));
  }

  // The head of the page must not say what is no longer true.
  const headParts = [byId("head-kicker"), byId("head-title"), byId("head-lead"), document.querySelector(".cancel-code")];
  const heads = {
    due: headParts.map((part) => part.textContent),
    doubt: ["Payment signed", "One postcard, in doubt", "It is not certain yet whether your payment went through.", "402"],
    paid: ["200 OK", "One postcard, paid", "Keep the number of the order: it leads you to your card.", "200"],
  };
  const head = (texts) => headParts.forEach((part, place) => part.replaceChildren(texts[place]));

  /** The last word of an attempt; moving there lets a screen reader read it. */
  function conclude({ title, text, rows = [], again = null, mood = "" }) {
    const look = element("a", "The order’s status", { href: `/orders/${data.order}` });
    const facts = within("dl", "facts", ...rows.map(([name, value]) => row(name, value)), row("To follow it", look));
    outcome.replaceChildren(element("h2", title), element("p", text), facts);
    if (again) {
      const retry = element("button", "Ask again", { className: "button", type: "button" });
      retry.addEventListener("click", () => attempt(again));
      outcome.append(within("p", "actions", retry));
    }
    outcome.classList.toggle("good", mood === "good");
    outcome.hidden = false;
    say("");
    outcome.focus();
  }

  /** Nothing is out any more that could move money: the person may pay. */
  function stayOpen(title, text) {
    till.hidden = wallets.length === 0;
    head(heads.due);
    step(-1);
    conclude({ title, text });
  }

  function end(words) {
    till.hidden = true;
    conclude(words);
  }

  /** Not known, or not over: the same payment is sent again, and no other. */
  function doubt(text, rows) {
    head(heads.doubt);
    const advice = "Do not pay again: asking again sends the payment that you signed, never a second one.";
    end({ title: "Not certain yet", text: `${text} ${advice}`, rows, again: () => deliver() });
  }

  function paid({ id, status, charged, network, transaction }) {
    forget();
    storage((shelf) => shelf.removeItem("pennyblack:card")); // written at /send, and not needed any more
    head(heads.paid);
    byId("terms").hidden = true;
    const rows = [["Order", id], ["Status", plain(status)]];
    if (charged) rows.push(["Charged", `${charged} USDC of at most ${usdc(most)}`]);
    if (network) rows.push(["Network", wallet.nameOf(network)]);
    if (transaction) rows.push(["Transaction", transaction]);
    const text = status === "fulfillment_needs_reconciliation"
      ? "The money has moved, and we are finding out what became of the card. Do not pay again: we owe you the card."
      : "The printer has your card. Thank you.";
    end({ title: "Paid", text, rows, mood: "good" });
  }

  /** One thing at a time, and every failure in words. */
  async function attempt(act) {
    if (busy) return;
    busy = true;
    button.setAttribute("aria-disabled", "true");
    outcome.hidden = true;
    try {
      await act();
    } catch (error) {
      failed(error);
    } finally {
      busy = false;
      button.removeAttribute("aria-disabled");
    }
  }

  function failed(error) {
    const words = String(error?.message ?? error);
    const declined = error?.code === 4001 || /user (rejected|denied)/i.test(words);
    const text = declined ? "You declined in the wallet." : error instanceof Stop ? words : `The wallet said: ${words}`;
    if (signed) doubt(`${text} The payment that you signed is kept.`);
    else stayOpen("Not paid", `${text} Nothing was paid.`);
  }

  function showWallets() {
    const before = till.elements.wallet?.value || "0";
    const choices = wallets.map(({ name, icon }, place) => {
      const value = String(place);
      const radio = element("input", undefined, { type: "radio", name: "wallet", value, checked: value === before });
      const picture = icon ? [element("img", undefined, { src: icon, alt: "", width: 24, height: 24 })] : [];
      return within("label", "choice", radio, ...picture, element("span", name));
    });
    byId("wallets").replaceChildren(byId("wallets").querySelector("legend"), ...choices);
    byId("no-wallet").hidden = true;
    if (outcome.hidden) till.hidden = false;
  }

  function showCard() {
    let card;
    try {
      card = JSON.parse(data.request.body);
    } catch {
      return;
    }
    const text = (value) => (typeof value === "string" ? value : "");
    const { recipient, message, front_image_url: picture } = card ?? {};
    const { name, address, postal_code: code, city, province, country } = recipient ?? {};
    const region = text(province) === text(city) ? "" : text(province);
    const lines = [text(name), text(address), `${text(code)} ${text(city)}`.trim(), region, text(country)];
    byId("card-message").textContent = text(message);
    byId("card-recipient").textContent = lines.filter(Boolean).join("\n");
    byId("card-picture").textContent = text(picture);
    byId("card").hidden = false;
  }

  // What is offered ------------------------------------------------------------------------

  /** The offer on a network, if it is still what the page says. */
  function offerOn(network) {
    const offer = challenge.accepts.find((one) =>
      one.scheme === "upto" && one.network === network && BigInt(one.amount) === most);
    if (!offer) throw new Stop("This network is not offered any more. Load the page again.");
    return offer;
  }

  /** A later challenge is as good as the first if it wants the same money for the same people. */
  function renew(later) {
    const terms = ({ scheme, network, amount, asset, payTo }) => [scheme, network, amount, asset, payTo].join().toLowerCase();
    const known = new Set(data.challenge.accepts.map(terms));
    const offered = Array.isArray(later?.accepts) ? later.accepts : [];
    if (offered.length > 0 && offered.every((offer) => known.has(terms(offer)))) challenge = later;
  }

  /** Everything that was advertised goes back as it came, with what we have to add. */
  function credential(offer, payload, permit) {
    const made = { x402Version: 2, payload, accepted: offer };
    if (challenge.resource) made.resource = challenge.resource;
    if (challenge.extensions) made.extensions = structuredClone(challenge.extensions);
    if (permit) made.extensions[SPONSORING].info = { ...made.extensions[SPONSORING].info, ...permit };
    return toBase64(made);
  }

  // Paying -----------------------------------------------------------------------------------

  /** How the order stands, and a clock that shows the service's time, by which deadlines count. */
  async function standing() {
    let response, record;
    try {
      const asked = { headers: { Accept: "application/json" }, cache: "no-store", credentials: "omit" };
      response = await fetch(statusPath, asked);
      record = response.ok ? await response.json() : null;
    } catch {
      throw new Stop("The service does not answer. Try again in a while.");
    }
    const there = Date.parse(response.headers.get("Date") ?? "");
    const begun = (Number.isNaN(there) ? Date.now() : there) - performance.now();
    return { record, seconds: () => Math.floor((begun + performance.now()) / 1000) };
  }

  async function pay() {
    if (recall()) return deliver();
    const offer = offerOn(till.elements.network.value);
    step(0);
    const account = await wallet.connect(offer);
    const { record, seconds } = await standing();
    if (record && record.status !== "unpaid") return elsewhere(record);
    const held = await wallet.balance(offer, account);
    if (held < most) {
      const where = wallet.nameOf(offer.network);
      throw new Stop(`This account has ${usdc(held)} USDC on ${where}, and ${usdc(most)} must be there. Choose another account or network.`);
    }
    step(1);
    const deadline = () => seconds() + offer.maxTimeoutSeconds;
    let permit = null;
    if ((await wallet.allowance(offer, account)) < most) {
      if (challenge.extensions?.[SPONSORING]) permit = await wallet.signPermit(offer, account, deadline());
      else await wallet.approve(offer, account);
    }
    step(2);
    const payload = await wallet.signPromise(offer, account, deadline());
    remember(credential(offer, payload, permit));
    return deliver();
  }

  const told = ({ id, status, pricing, payment }) =>
    ({ id, status, charged: pricing?.charged, network: payment?.network, transaction: payment?.transaction });

  /** Another window or program was faster, or the offer has lapsed. */
  function elsewhere(record) {
    if (record.status === "expired") throw new Stop("This offer has lapsed. Send the request again for a new one.");
    if (record.payment) return paid(told(record));
    const text = "A payment for this order is under way, from another window or a program. Nothing was signed here.";
    return end({ title: "Being paid already", text, rows: [["Status", plain(record.status)]] });
  }

  /** Sends the very same request with the payment that was signed. */
  async function deliver(allowed = false) {
    step(3);
    say("The payment is on its way. This can take a minute.");
    const { path, body, idempotency_key: key } = data.request;
    const headers = { "Content-Type": "application/json", Accept: "application/json", "PAYMENT-SIGNATURE": recall() };
    if (key) headers["Idempotency-Key"] = key;
    let response, text;
    try {
      const signal = AbortSignal.timeout(ANSWER_MILLISECONDS);
      response = await fetch(path, { method: "POST", headers, body, cache: "no-store", credentials: "omit", redirect: "error", signal });
      text = await response.text();
    } catch {
      return doubt("No answer came back, so nobody here knows whether the payment was made.");
    }
    let answer = null;
    try {
      answer = JSON.parse(text);
    } catch {
      // Then its status and headers must do.
    }
    return answered(response, answer ?? {}, allowed);
  }

  function answered(response, answer, allowed) {
    const receipt = fromBase64(response.headers.get("PAYMENT-RESPONSE"));
    const demand = fromBase64(response.headers.get("PAYMENT-REQUIRED"));
    renew(demand);
    if (response.status === 200 && answer.id) return settled(answer, receipt);
    if (response.status === 412) return allow(allowed);
    if (response.status === 402) return declined(receipt, demand);
    return refused(response, answer.error ?? {});
  }

  async function settled({ id, status }, receipt) {
    if (receipt?.success) {
      const { amount, network, transaction } = receipt;
      return paid({ id, status, network, transaction, charged: amount === undefined ? null : usdc(amount) });
    }
    // A repeated answer carries no receipt; the order knows.
    const { record } = await standing().catch(() => ({ record: null }));
    return paid({ ...(record ? told(record) : {}), id, status });
  }

  /** Permit2 may not move the money yet. Nothing was used up: afterwards the same payment goes out again. */
  async function allow(allowed) {
    const { accepted, payload } = fromBase64(recall());
    step(1);
    const account = await wallet.connect(accepted, payload.permit2Authorization.from);
    const short = (await wallet.allowance(accepted, account)) < BigInt(accepted.amount);
    if (short) await wallet.approve(accepted, account);
    return allowed ? doubt("The service has not seen yet that Permit2 may move your USDC.") : deliver(true);
  }

  function declined(receipt, demand) {
    // A failure with a transaction may yet become a success.
    if (receipt?.transaction) {
      return doubt("The network has the payment and has not confirmed it yet.", [["Transaction", receipt.transaction]]);
    }
    const reason = receipt?.errorReason ?? demand?.error ?? "not given";
    forget();
    return stayOpen("Not paid", `The payment was not taken, and nothing moved. ${reasons[reason] ?? `The reason: ${plain(reason)}.`} You may pay again.`);
  }

  function refused(response, { retry, message, code }) {
    const rows = [["Answer", code ? `${response.status}, ${plain(code)}` : String(response.status)]];
    const text = message ?? `The service answered with ${response.status}.`;
    if (retry === "never") {
      forget();
      return end({ title: "This order cannot be paid here", text, rows });
    }
    if (retry === "new_payment") {
      forget();
      return end({ title: "Not paid", text: `${text} Load this page again to pay.`, rows });
    }
    const wait = Number(response.headers.get("Retry-After"));
    return doubt(wait > 0 ? `${text} Please wait ${wait} seconds.` : text, rows);
  }

  till.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(pay);
  });
  showCard();
  find((found) => {
    wallets.push(found);
    showWallets();
  });
  byId("no-wallet").hidden = wallets.length > 0;
  if (recall()) doubt("You signed a payment for this order before, and its outcome is not known here.");
})();
