// Pays for one postcard from the payment page.
//
// One rule comes before all others: a payment that was signed is sent again until the service says what became of it.
// Nothing new is signed before that, and a reload does not forget it.
(() => {
  "use strict";

  const SPONSORING = "eip2612GasSponsoring";
  const ANSWER_MILLISECONDS = 120_000;
  const WATCH_MILLISECONDS = 10_000;

  const { PaymentStop, walletClient, discover, usdc } = globalThis.pennyblackWallets;
  const view = globalThis.pennyblackPaymentView;
  const { toBase64, fromBase64, remember, forget, recall, isOpen, forgetCard, lock, unlock, unlocked } = globalThis.pennyblackSignedPayment;
  const { data, most, text, withRemedy } = view;
  const statusPath = `/api/x402/orders/${data.order}`;
  const wallets = [];
  const wallet = walletClient({ provider: () => wallets[view.chosenWallet()]?.provider, networks: data.networks, say: view.say });
  let challenge = data.challenge;
  let quoteId = data.request.quote_id ?? view.card().quote_id ?? null;
  /** What signed the payment: a key, a contract or a delegate. Not known after a reload. */
  let signedBy = null;
  let busy = false;

  window.addEventListener("beforeunload", (event) => {
    if (isOpen()) event.preventDefault();
  });

  // How an attempt ends -----------------------------------------------------------------------

  /** Another tab signs for this order. Once it is done, the order says how it stands. */
  function inAnotherTab() {
    end({ title: text("outcome_elsewhere"), content: text("outcome_elsewhere_text") });
    unlocked().then(() => attempt(recheck));
  }

  async function recheck() {
    const { record } = await standing();
    if (record && record.status !== "unpaid") return elsewhere(record);
    view.form.hidden = wallets.length === 0;
    return undefined;
  }

  /** No payment is open that could move money: the person may pay. */
  function stayOpen(content) {
    view.form.hidden = wallets.length === 0;
    view.head("due");
    view.step(-1);
    view.conclude({ title: text("outcome_not_paid"), content });
  }

  function end(result) {
    view.form.hidden = true;
    view.showAccount();
    view.conclude(result);
  }

  /** Not known, or not finished: the same payment is sent again, and no other. */
  function doubt(content, rows) {
    view.head("doubt");
    const again = { label: text("outcome_ask_again"), act: () => attempt(() => deliver()) };
    end({ title: text("outcome_doubt"), content: `${content} ${text("outcome_doubt_text")}`, rows, actions: [again] });
    watch();
  }

  function paid({ id, status, charged, network, transaction }) {
    forget();
    forgetCard();
    view.head("paid");
    document.getElementById("terms").hidden = true;
    const rows = [[text("order_number"), id], [text("outcome_status"), view.statusName(status)]];
    if (charged) rows.push([text("order_charged"), text("order_charged_of", { charge: charged })]);
    if (network) rows.push([text("order_network"), view.networkName(network)]);
    if (transaction) rows.push([text("order_transaction"), transaction]);
    const content = text(status === "fulfillment_needs_reconciliation" ? "outcome_paid_open" : "outcome_paid_text");
    end({ title: text("outcome_paid"), content, rows, mood: "good" });
    unlock();
  }

  /** One attempt at a time; every failure is explained. */
  async function attempt(act) {
    if (busy) return;
    busy = true;
    view.setBusy(true);
    view.hideOutcome();
    try {
      if (recall() || (await lock())) await act();
      else inAnotherTab();
    } catch (error) {
      failed(error);
    } finally {
      busy = false;
      view.setBusy(false);
      if (!isOpen()) unlock();
    }
  }

  function failed(error) {
    const message = String(error?.message ?? error);
    const declined = error?.code === 4001 || /user (rejected|denied)/i.test(message);
    let key = "refusal_wallet_said";
    let values = { text: message.slice(0, 300) };
    if (declined) [key, values] = ["refusal_declined", {}];
    else if (error instanceof PaymentStop) ({ key, values } = error);
    if (isOpen()) return doubt(`${text(declined ? "refusal_declined_open" : key, values)} ${text("outcome_doubt_signed")}`);
    const content = withRemedy(key, values);
    return stayOpen(key === "refusal_wallet_said" ? `${content} ${text("outcome_not_paid_text")}` : content);
  }

  // What is offered ---------------------------------------------------------------------------

  /** The offer on a network, if it is still what the page says. */
  function offerOn(network) {
    const offer = challenge.accepts.find((one) =>
      one.scheme === "upto" && one.network === network && BigInt(one.amount) === most);
    if (!offer) throw new PaymentStop("refusal_offer_gone");
    return offer;
  }

  /** A later challenge replaces the first if it asks for the same money for the same payees. */
  function renew(later) {
    const terms = ({ scheme, network, amount, asset, payTo }) => [scheme, network, amount, asset, payTo].join().toLowerCase();
    const known = new Set(data.challenge.accepts.map(terms));
    const offered = Array.isArray(later?.accepts) ? later.accepts : [];
    if (offered.length > 0 && offered.every((offer) => known.has(terms(offer)))) challenge = later;
  }

  /** Everything that was advertised is echoed, with what we have to add. */
  function credential(offer, payload, permit) {
    const made = { x402Version: 2, payload, accepted: offer };
    if (challenge.resource) made.resource = challenge.resource;
    if (challenge.extensions) made.extensions = structuredClone(challenge.extensions);
    if (permit) made.extensions[SPONSORING].info = { ...made.extensions[SPONSORING].info, ...permit };
    return toBase64(made);
  }

  // Paying --------------------------------------------------------------------------------------

  /** The order's status, and a clock that shows the service's time, by which deadlines count. */
  async function standing() {
    let response, record;
    try {
      const asked = { headers: { Accept: "application/json" }, cache: "no-store", credentials: "omit" };
      response = await fetch(statusPath, asked);
      record = response.ok ? await response.json() : null;
    } catch {
      throw new PaymentStop("refusal_unreachable");
    }
    const there = Date.parse(response.headers.get("Date") ?? "");
    const begun = (Number.isNaN(there) ? Date.now() : there) - performance.now();
    return { record, seconds: () => Math.floor((begun + performance.now()) / 1000) };
  }

  async function pay() {
    if (recall()) return deliver();
    const offer = offerOn(view.chosenNetwork());
    const network = wallet.nameOf(offer.network);
    view.step(0);
    const address = await wallet.connect(offer);
    const { record, seconds } = await standing();
    if (record && record.status !== "unpaid") return elsewhere(record);
    const held = await wallet.balance(offer, address);
    if (held < most) throw new PaymentStop("refusal_balance", { held: usdc(held), network });
    const account = await wallet.account(address);
    const deadline = () => seconds() + offer.maxTimeoutSeconds;
    view.showAccount(...(account.kind === "key" ? [] : [text("smart_account", { network })]));
    view.step(1);
    const permit = await letPermit2Move(offer, account, deadline);
    view.step(2);
    view.say("say_sign", { network });
    const payload = await wallet.signPayment(offer, account, deadline());
    signedBy = account.kind;
    remember(credential(offer, payload, permit));
    return deliver();
  }

  /** By a signature where the service takes one and the account can give one; otherwise by a transaction. */
  async function letPermit2Move(offer, account, deadline) {
    if ((await wallet.allowance(offer, account.address)) >= most) {
      view.showApproval("step_approve_done");
      return null;
    }
    if (challenge.extensions?.[SPONSORING] && account.kind === "key") {
      view.showApproval("step_approve_free");
      view.say("say_permit");
      return wallet.signPermit(offer, account, deadline());
    }
    await approve(offer, account);
    return null;
  }

  async function approve(offer, account) {
    const network = wallet.nameOf(offer.network);
    const gas = await wallet.gas(offer, account);
    if (account.kind !== "key") view.showAccount(text("smart_account", { network }), text("smart_approve_instead"));
    if (gas) view.showApproval("step_approve_gas", { gas: view.gasText(gas) });
    else view.showApproval("step_approve_gas_unknown", { network });
    if (gas) view.say("say_approve_gas", { gas: view.gasText(gas) });
    else view.say("say_approve");
    await wallet.approve(offer, account.address);
  }

  const paymentOf = ({ id, status, pricing, payment }) =>
    ({ id, status, charged: pricing?.charged, network: payment?.network, transaction: payment?.transaction });

  /** Another tab or program has paid or is paying, or the offer has expired. */
  function elsewhere(record) {
    if (record.status === "expired") throw new PaymentStop("refusal_expired");
    if (record.payment) return paid(paymentOf(record));
    const rows = [[text("outcome_status"), view.statusName(record.status)]];
    end({ title: text("outcome_elsewhere"), content: text("outcome_elsewhere_text"), rows });
    return watch();
  }

  // While an outcome is open, the order says when it is known ------------------------------------

  let watching = 0;
  function watch() {
    clearTimeout(watching);
    watching = setTimeout(look, WATCH_MILLISECONDS);
  }

  async function look() {
    const { record } = await standing().catch(() => ({ record: null }));
    if (busy) return watch();
    return record?.payment ? paid(paymentOf(record)) : watch();
  }

  // Sending ---------------------------------------------------------------------------------------

  /** The request as it was, with the quote that the person has accepted. */
  function request() {
    const { body, idempotency_key: key, quote_id: quoteHeader } = data.request;
    const headers = { "Content-Type": "application/json", Accept: "application/json", "PAYMENT-SIGNATURE": recall() };
    if (key) headers["Idempotency-Key"] = key;
    const card = view.card();
    if (quoteId && (quoteHeader || !card.quote_id)) headers["Quote-Id"] = quoteId;
    const isSame = !card.quote_id || card.quote_id === quoteId;
    return { headers, body: isSame ? body : JSON.stringify({ ...card, quote_id: quoteId }) };
  }

  async function deliver(allowed = false) {
    view.step(3);
    view.say("say_sent");
    clearTimeout(watching);
    let response, content;
    try {
      const signal = AbortSignal.timeout(ANSWER_MILLISECONDS);
      const sent = { method: "POST", ...request(), cache: "no-store", credentials: "omit", redirect: "error", signal };
      response = await fetch(data.request.path, sent);
      content = await response.text();
    } catch {
      return doubt(text("outcome_doubt_no_answer"));
    }
    let answer = null;
    try {
      answer = JSON.parse(content);
    } catch {
      // Then status and headers decide.
    }
    return answered(response, answer ?? {}, allowed);
  }

  function answered(response, answer, allowed) {
    const receipt = fromBase64(response.headers.get("PAYMENT-RESPONSE"));
    const required = fromBase64(response.headers.get("PAYMENT-REQUIRED"));
    renew(required);
    if (response.status === 200 && answer.id) return settled(answer, receipt);
    if (response.status === 412) return allow(allowed);
    if (response.status === 402) return declined(receipt, required);
    return refused(response, answer.error ?? {});
  }

  async function settled({ id, status }, receipt) {
    if (receipt?.success) {
      const { amount, network, transaction } = receipt;
      return paid({ id, status, network, transaction, charged: amount === undefined ? null : usdc(amount) });
    }
    // A repeated answer has no receipt; the order knows.
    const { record } = await standing().catch(() => ({ record: null }));
    return paid({ ...(record ? paymentOf(record) : {}), id, status });
  }

  /** Permit2 may not move the money yet. Nothing was used: afterwards the same payment is sent again. */
  async function allow(allowed) {
    const { accepted, payload } = fromBase64(recall());
    view.step(1);
    const address = await wallet.connect(accepted, payload.permit2Authorization.from);
    const isShort = (await wallet.allowance(accepted, address)) < BigInt(accepted.amount);
    if (isShort) await approve(accepted, await wallet.account(address));
    return allowed ? doubt(text("outcome_doubt_allowance")) : deliver(true);
  }

  function declined(receipt, required) {
    // A failure with a transaction may still become a success.
    if (receipt?.transaction) {
      return doubt(text("outcome_doubt_network"), [[text("order_transaction"), receipt.transaction]]);
    }
    const network = wallet.nameOf(fromBase64(recall())?.accepted?.network);
    const reason = String(receipt?.errorReason ?? required?.error ?? "").slice(0, 200);
    // Some reasons have details after a colon.
    let key = view.reasons[reason.split(":")[0]] ?? "refusal_other";
    if (key === "smart_signature_refused" && signedBy === "delegate") key = "smart_delegate";
    forget();
    return stayOpen(withRemedy(key, { reason: reason.replaceAll("_", " "), network }));
  }

  /** The price has risen since the quote. Nothing moved; only the person's press accepts the new price. */
  function raised({ id, charge }) {
    const header = recall();
    forget();
    view.head("due");
    view.showPrice(charge);
    const accept = () => attempt(() => {
      quoteId = id;
      remember(header);
      return deliver();
    });
    const actions = [{ label: text("payment_button_charge", { charge }), act: accept }, { label: text("card_change"), href: data.form_path }];
    return end({ title: text("outcome_not_paid"), content: withRemedy("refusal_price_changed", { charge }), actions });
  }

  function refused(response, { retry, code, quote }) {
    const known = view.refusals[code];
    const rows = [[text("outcome_answer"), [response.status, code].filter(Boolean).join(", ").replaceAll("_", " ")]];
    const isQuote = /^[0-9a-f]{64}$/.test(quote?.id) && /^\d{1,3}\.\d{2,6}$/.test(quote?.charge);
    if (code === "price_conflict" && isQuote) return raised(quote);
    if (retry === "never" || retry === "new_payment") {
      forget();
      const content = withRemedy(known ?? "refusal_other", { reason: String(code ?? response.status).replaceAll("_", " ") });
      const actions = [{ label: text("card_change"), href: data.form_path }];
      return end({ title: text(retry === "never" ? "outcome_closed" : "outcome_not_paid"), content, rows, actions });
    }
    const seconds = Number(response.headers.get("Retry-After"));
    const content = text(known ?? "outcome_doubt_answer", { status: response.status });
    return doubt(seconds > 0 ? `${content} ${text("outcome_doubt_wait", { seconds })}` : content, rows);
  }

  // Start -------------------------------------------------------------------------------------------

  function start() {
    if (!recall()) return;
    lock();
    doubt(text("outcome_doubt_kept"));
  }

  view.form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(pay);
  });
  // A page that comes back from the browser's memory may be older than the order.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted && !busy) recall() ? start() : attempt(recheck);
  });
  discover((found) => {
    wallets.push(found);
    view.showWallets(wallets);
  });
  if (wallets.length === 0) view.showNoWallet();
  start();
})();
