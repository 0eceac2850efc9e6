// The page of an order: looks at the order's record now and then, and shows the page anew when it has changed.
(() => {
  "use strict";

  const KEPT_CARD = "pennyblack:card";
  const NOT_PAID = ["unpaid", "payment_pending", "payment_unconfirmed", "expired"];
  const SECONDS_MAX = 600;
  const byId = (id) => document.getElementById(id);
  const language = document.documentElement.lang;
  let record = null;
  let failures = 0;

  /** Times as the reader's clock shows them. */
  function localize(root) {
    for (const time of root.querySelectorAll("time[datetime]")) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      time.textContent = at.toLocaleString(language, { dateStyle: "long", timeStyle: "short" });
    }
  }

  /** The card that was written in this tab is not needed once it is paid for. */
  function forgetCard(status) {
    if (NOT_PAID.includes(status)) return;
    try {
      sessionStorage.removeItem(KEPT_CARD);
    } catch {
      // A browser that keeps nothing.
    }
  }

  async function renew() {
    const response = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById("order");
    if (!fresh) return;
    localize(fresh);
    byId("order").replaceWith(fresh);
    markPolled();
    document.title = page.title;
    byId("order-said").textContent = fresh.querySelector("h1").textContent;
    forgetCard(fresh.dataset.status);
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
      record = { status: found.status, text };
      if (isNew) await renew();
      failures = 0;
    } catch {
      failures += 1; // it is asked again, later
    }
    plan();
  }

  function plan() {
    const seconds = Number(byId("order").dataset.seconds ?? 0);
    if (!(seconds > 0)) return;
    const pause = Math.min(seconds * 2 ** Math.min(failures, 6), SECONDS_MAX);
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
  forgetCard(byId("order").dataset.status);
  plan();
})();
