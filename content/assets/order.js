// The page of an order: looks at the order's record now and then, and shows the page anew when it has changed.
(() => {
  "use strict";

  const KEPT_CARD = "pennyblack:card";
  const NOT_PAID = ["unpaid", "payment_pending", "payment_unconfirmed", "expired"];
  const SECONDS_MAX = 600;
  const LOOKS_EACH = 40;
  const byId = (id) => document.getElementById(id);
  const language = document.documentElement.lang;
  let record = null;
  let failures = 0;
  let looks = 0; // without a change

  /** Times as the reader's clock shows them. */
  function localize(root) {
    for (const time of root.querySelectorAll("time[datetime]")) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      time.textContent = at.toLocaleString(language, { dateStyle: "long", timeStyle: "short" });
    }
  }

  /** The card that was written in this tab is not needed once it is paid for, which this page saw happen. */
  function forgetCard(before, after) {
    if (!NOT_PAID.includes(before) || NOT_PAID.includes(after)) return;
    try {
      sessionStorage.removeItem(KEPT_CARD);
    } catch {
      // A browser that keeps nothing.
    }
  }

  /** Throws if the new page cannot be had; the caller tries again later. */
  async function renew() {
    const response = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
    if (!response.ok) throw new Error(String(response.status));
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById("order");
    if (!fresh) throw new Error("not the page of an order");
    localize(fresh);
    const before = byId("order").dataset.status;
    byId("order").replaceWith(fresh);
    markPolled();
    document.title = page.title;
    byId("order-said").textContent = fresh.querySelector("h1").textContent;
    forgetCard(before, fresh.dataset.status);
  }

  async function look() {
    try {
      const response = await fetch(byId("order").dataset.record, { cache: "no-cache", credentials: "omit" });
      if (!response.ok) throw new Error(String(response.status));
      const text = await response.text();
      // The first look may find what changed since the page was made.
      const known = record ?? { status: byId("order").dataset.status };
      const found = JSON.parse(text);
      const isNew = record === null ? found.status !== known.status : text !== known.text;
      if (isNew) await renew();
      record = { status: found.status, text };
      failures = 0;
      looks = isNew ? 0 : looks + 1;
    } catch {
      failures += 1; // it is asked again, later
    }
    plan();
  }

  function plan() {
    const seconds = Number(byId("order").dataset.seconds ?? 0);
    if (!(seconds > 0)) return;
    // An order that does not change for minutes is asked about less often.
    const doublings = Math.min(failures, 6) + Math.min(Math.floor(looks / LOOKS_EACH), 6);
    const pause = Math.min(seconds * 2 ** doublings, SECONDS_MAX);
    setTimeout(whenVisible, pause * 1000);
  }

  /** A page in the background asks for nothing until it is looked at again. */
  function whenVisible() {
    if (document.visibilityState === "visible") return look();
    document.addEventListener("visibilitychange", whenVisible, { once: true });
    return undefined;
  }

  const markPolled = () => byId("order-polled")?.removeAttribute("hidden");

  localize(document);
  markPolled();
  plan();
})();
