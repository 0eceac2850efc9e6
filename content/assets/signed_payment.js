// The payment that was signed and whose outcome is open: kept until it is known, for as long as this tab exists.
globalThis.pennyblackSignedPayment = (() => {
  "use strict";

  const { order } = JSON.parse(document.getElementById("paywall-data").textContent);
  const NAME = `pennyblack:payment:${order}`;
  /** Written at /send, and not needed once the card is paid. */
  const CARD = "pennyblack:card";
  let signed = null;

  function toBase64(value) {
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  }

  /** Null for a header that is missing or malformed. */
  function fromBase64(encoded) {
    try {
      const bytes = Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0));
      return JSON.parse(new TextDecoder().decode(bytes));
    } catch {
      return null;
    }
  }

  /** Null in a browser that stores nothing; then the page alone remembers. */
  function storage(act) {
    try {
      return act(sessionStorage);
    } catch {
      return null;
    }
  }

  function remember(header) {
    signed = header;
    storage((kept) => kept.setItem(NAME, header));
  }

  function forget() {
    signed = null;
    storage((kept) => kept.removeItem(NAME));
  }

  function recall() {
    signed ??= storage((kept) => kept.getItem(NAME));
    return signed;
  }

  const isOpen = () => signed !== null;
  const forgetCard = () => storage((kept) => kept.removeItem(CARD));

  // One tab signs for an order. The service takes one payment for it in any case ----------------

  let end = null;

  /** Whether this tab may sign. Other tabs may not until `unlock` is called or this tab is closed. */
  function lock() {
    if (end || !navigator.locks) return Promise.resolve(true);
    return new Promise((resolve) => {
      const hold = (granted) => {
        if (granted === null) return resolve(false);
        return new Promise((over) => {
          end = over;
          resolve(true);
        });
      };
      navigator.locks.request(NAME, { ifAvailable: true }, hold).catch(() => resolve(true));
    });
  }

  function unlock() {
    end?.();
    end = null;
  }

  /** Resolves when no other tab signs for this order. */
  const unlocked = () => navigator.locks.request(NAME, () => undefined);

  return { toBase64, fromBase64, remember, forget, recall, isOpen, forgetCard, lock, unlock, unlocked };
})();
