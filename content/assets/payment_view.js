// What the payment page shows. Every text is the page's own, in the person's language; texts of wallets and of the card
// are shown as text, never as markup.
globalThis.pennyblackPaymentView = (() => {
  "use strict";

  const { usdc } = globalThis.pennyblackWallets;
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("paywall-data").textContent);
  const { words, reasons, refusals } = JSON.parse(byId("paywall-texts").textContent);
  const most = BigInt(data.challenge.accepts?.[0]?.amount ?? 0);

  const form = byId("payment");
  const button = byId("pay");
  const outcome = byId("outcome");

  // Texts --------------------------------------------------------------------------------------

  /** An amount with the decimal sign of the language. */
  const amount = (text) => String(text).replace(".", data.decimal_sign);
  const AMOUNTS = new Set(["most", "charge", "held"]);

  /** The text of a key, with its placeholders filled. */
  function text(key, values = {}) {
    const known = { most: usdc(most), ...values };
    const filled = (words[key] ?? "").replace(/\{(\w+)\}/g, (whole, name) => {
      if (known[name] === undefined) return whole;
      return AMOUNTS.has(name) ? amount(known[name]) : String(known[name]);
    });
    return filled.replaceAll("`", "");
  }

  /** A text and what the person can do about it. */
  const withRemedy = (key, values) => [text(key, values), words[`${key}_remedy`] ? text(`${key}_remedy`, values) : ""].filter(Boolean).join(" ");
  const statusName = (status) => text(`status_${status}_name`) || String(status).replaceAll("_", " ");
  const gasText = ({ amount: held, coin }) => `${amount(held)} ${coin}`;

  // Elements -----------------------------------------------------------------------------------

  function element(name, content, more = {}) {
    const made = Object.assign(document.createElement(name), more);
    if (content !== undefined) made.textContent = content;
    return made;
  }

  function within(name, className, ...children) {
    const made = element(name, undefined, className ? { className } : {});
    made.append(...children);
    return made;
  }

  function row(name, value) {
    const isCode = typeof value === "string" && /^(0x)?[0-9a-f]{32,}$/i.test(value);
    return within("div", "", element("dt", name), within("dd", "", isCode ? element("code", value, { className: "long" }) : value));
  }

  // The state of the page ------------------------------------------------------------------------

  const say = (key, values) => {
    byId("said").textContent = key ? text(key, values) : "";
  };

  /** The step that is being taken; all before it are done. */
  function step(now) {
    [...byId("steps").children].forEach((item, place) => {
      item.classList.toggle("done", place < now);
      item.querySelector(".hidden")?.remove();
      if (place < now) item.append(element("span", ` ${text("order_done")}`, { className: "hidden" }));
      if (place === now) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
  }

  /** How Permit2 gets its allowance, and what that costs. */
  function showApproval(key, values) {
    byId("step-approve").textContent = text(key, values);
  }

  function showAccount(...texts) {
    const note = byId("account-note");
    note.textContent = texts.join(" ");
    note.hidden = texts.length === 0;
  }

  // The head of the page must not say what is no longer true.
  const headParts = [byId("head-kicker"), byId("head-title"), byId("head-lead"), document.querySelector(".cancel-code")];
  const due = headParts.map((part) => part.textContent);
  function head(state) {
    const code = state === "paid" ? "200" : "402";
    const texts = state === "due" ? due : [...["kicker", "heading", "lead"].map((part) => text(`payment_${part}_${state}`)), code];
    headParts.forEach((part, place) => part.replaceChildren(texts[place]));
  }

  /** The result of an attempt. It gets the focus, so that a screen reader reads it. */
  function conclude({ title, content, rows = [], actions = [], mood = "" }) {
    const link = element("a", text("outcome_follow"), { href: `/orders/${data.order}?lang=${data.language}`, id: "follow" });
    outcome.replaceChildren(element("h2", title), element("p", content));
    if (rows.length > 0) outcome.append(within("dl", "facts", ...rows.map(([name, value]) => row(name, value))));
    outcome.append(within("p", "", link));
    for (const { label, act, href } of actions) {
      const made = act
        ? element("button", label, { className: "button", type: "button" })
        : element("a", label, { className: "button quiet", href });
      if (act) made.addEventListener("click", act);
      outcome.append(within("p", "actions", made));
    }
    outcome.classList.toggle("good", mood === "good");
    outcome.hidden = false;
    say();
    outcome.focus();
  }

  const hideOutcome = () => {
    outcome.hidden = true;
  };

  function setBusy(busy) {
    if (busy) button.setAttribute("aria-disabled", "true");
    else button.removeAttribute("aria-disabled");
  }

  /** The price after the person has seen another one. */
  function showPrice(charge) {
    byId("due-amount").textContent = `${amount(charge)} USDC`;
    byId("due-note").textContent = text("payment_quoted", { charge });
    button.textContent = text("payment_button_charge", { charge });
  }

  // Wallets ------------------------------------------------------------------------------------------

  const chosenWallet = () => Number(form.elements.wallet?.value || 0);
  const chosenNetwork = () => form.elements.network.value;
  const networkName = (network) => data.networks.find((one) => one.network === network)?.name ?? network;

  function showWallets(wallets) {
    const before = form.elements.wallet?.value || "0";
    const choices = wallets.map(({ name, icon }, place) => {
      const value = String(place);
      const radio = element("input", undefined, { type: "radio", name: "wallet", value, checked: value === before });
      const picture = icon ? [element("img", undefined, { src: icon, alt: "", width: 24, height: 24 })] : [];
      return within("label", "choice", radio, ...picture, element("span", name || text("wallet_of_browser")));
    });
    byId("wallets").replaceChildren(byId("wallets").querySelector("legend"), ...choices);
    byId("no-wallet").hidden = true;
    if (outcome.hidden) form.hidden = false;
  }

  function showNetwork() {
    const network = networkName(chosenNetwork());
    byId("step-connect").textContent = text("step_connect", { network });
    byId("needs").textContent = text("wallet_needs", { network });
    showApproval("step_approve_either");
    showAccount();
  }

  // The card, and how it gets into the browser of a wallet -------------------------------------------

  function card() {
    try {
      const read = JSON.parse(data.request.body);
      return read !== null && typeof read === "object" ? read : {};
    } catch {
      return {};
    }
  }

  function showCard() {
    const plain = (value) => (typeof value === "string" ? value : "");
    const { recipient, message, front_image_url: picture } = card();
    const { name, address, postal_code: code, city, province, country } = recipient ?? {};
    const region = plain(province) === plain(city) ? "" : plain(province);
    const lines = [plain(name), plain(address), `${plain(code)} ${plain(city)}`.trim(), region, plain(country)];
    byId("card-message").textContent = plain(message);
    byId("card-recipient").textContent = lines.filter(Boolean).join("\n");
    byId("card-picture").textContent = plain(picture);
    byId("card").hidden = false;
  }

  /** The form with the card in the fragment, which no browser sends to a server. */
  function cardLink() {
    const { front_image_url, message, recipient } = card();
    const bytes = new TextEncoder().encode(JSON.stringify({ front_image_url, message, recipient }));
    const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    const fragment = base64.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    return `${location.origin}${data.form_path}#card=${fragment}`;
  }

  async function copyCardLink() {
    try {
      await navigator.clipboard.writeText(cardLink());
      byId("copied").textContent = text("card_link_copied");
    } catch {
      // Without access to the clipboard the person copies it.
      byId("card-link").value = cardLink();
      byId("card-link-field").hidden = false;
      byId("card-link").select();
    }
  }

  const isPhone = () => matchMedia("(pointer: coarse)").matches || /Android|iPhone|iPad/.test(navigator.userAgent);

  /** These links pass through the wallet's company, so they contain the form's address and not the card. */
  function showNoWallet() {
    const page = location.origin + data.form_path;
    const links = {
      "open-metamask": `https://link.metamask.io/dapp/${location.host}${data.form_path}`,
      "open-coinbase": `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(page)}`,
      "open-rabby": `https://go.rabby.io/mobile/?_cmd=open-dapp&dapp=${encodeURIComponent(page)}`,
    };
    for (const [id, href] of Object.entries(links)) byId(id).href = href;
    byId("phone-wallets").hidden = !isPhone();
    byId("no-wallet").hidden = false;
  }

  form.addEventListener("change", showNetwork);
  byId("copy-card").addEventListener("click", copyCardLink);
  showCard();
  showNetwork();

  return {
    data, most, form, reasons, refusals, text, withRemedy, statusName, gasText, say, step, showApproval, showAccount, head,
    conclude, hideOutcome, setBusy, showPrice, chosenWallet, chosenNetwork, networkName, showWallets, showNoWallet, card,
  };
})();
