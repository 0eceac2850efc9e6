// The form at /send, with what a browser adds to it: a drawing of the card, a counter, memory for this tab, and cards
// that arrive in the fragment of a link. Nothing here sends anything: only the form's own buttons do.
(() => {
  "use strict";

  const KEPT = "pennyblack:card";
  /** The longest link that is read. A card of 1,000 characters needs less than a tenth of it. */
  const FRAGMENT_MAX = 64 * 1024;
  const LINES = ["name", "address", "city", "province", "postal_code"];
  const OWN = "own";

  const byId = (id) => document.getElementById(id);
  const form = byId("card");
  if (!form) return;
  const pictures = [...form.querySelectorAll("input[type=radio][name=picture]")];
  const field = (name) => byId(name);

  // The card in the form --------------------------------------------------------------------

  const chosen = () => pictures.find((picture) => picture.checked)?.value ?? "";

  function choose(value) {
    for (const picture of pictures) picture.checked = picture.value === value;
  }

  function read() {
    const card = { picture: chosen() };
    for (const name of ["front_image_url", "message", "country", ...LINES]) card[name] = field(name).value;
    return card;
  }

  function write(card) {
    choose(card.picture);
    for (const name of ["front_image_url", "message", "country", ...LINES]) {
      if (typeof card[name] === "string") field(name).value = card[name];
    }
  }

  // Memory: in this tab only, until the card is paid for ----------------------------------------

  function storage(act) {
    try {
      return act(sessionStorage);
    } catch {
      return null; // a browser that keeps nothing
    }
  }

  const keep = () => storage((kept) => kept.setItem(KEPT, JSON.stringify(read())));

  function recall() {
    try {
      const card = JSON.parse(storage((kept) => kept.getItem(KEPT)) ?? "null");
      return card !== null && typeof card === "object" ? card : null;
    } catch {
      return null;
    }
  }

  // A card in the fragment of a link ------------------------------------------------------------

  function decoded(text) {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  }

  const isRecord = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

  /** Puts the card of a request into the form. Returns whether every part of it was used. */
  function fill(request) {
    let complete = true;
    const given = isRecord(request.recipient) ? request.recipient : {};
    const known = new Set(["front_image_url", "message", "recipient"]);
    const members = new Set([...LINES, "country"]);
    if (Object.keys(request).some((name) => !known.has(name))) complete = false;
    if (Object.keys(given).some((name) => !members.has(name))) complete = false;
    if (request.recipient !== undefined && !isRecord(request.recipient)) complete = false;
    const text = (value, most) => {
      if (value === undefined) return "";
      if (typeof value === "string" && [...value].length <= most) return value;
      complete = false;
      return "";
    };
    const card = { message: text(request.message, 10_000) };
    for (const name of LINES) card[name] = text(given[name], 1_000);
    const country = text(given.country, 2).toUpperCase();
    const listed = [...field("country").options].some((option) => option.value === country);
    if (!listed) complete = false;
    card.country = listed ? country : "";
    const url = text(request.front_image_url, 2_048);
    const ours = pictures.find((picture) => picture.dataset.url === url && url !== "");
    card.picture = ours ? ours.value : OWN;
    card.front_image_url = ours ? "" : url;
    write(card);
    return complete;
  }

  const NOTES = ["handoff-filled", "handoff-partly", "handoff-unreadable", "handoff-too-large"];

  function note(id) {
    for (const other of NOTES) byId(other).hidden = other !== id;
  }

  /** Reads the fragment once and removes it, so that no copy of the link carries the card further. */
  function takeFragment() {
    const { hash } = location;
    if (!hash.startsWith("#card=")) return false;
    history.replaceState(history.state, "", location.pathname + location.search);
    if (hash.length > FRAGMENT_MAX) {
      note("handoff-too-large");
      return false;
    }
    let request = null;
    try {
      request = decoded(hash.slice("#card=".length));
    } catch {
      // Not base64url, not UTF-8 or not JSON.
    }
    if (!isRecord(request)) {
      note("handoff-unreadable");
      return false;
    }
    note(fill(request) ? "handoff-filled" : "handoff-partly");
    keep();
    return true;
  }

  // The drawing ------------------------------------------------------------------------------------

  const SIZES = [1, 0.92, 0.84, 0.76, 0.68, 0.6, 0.54, 0.48, 0.42];

  const drawn = Object.assign(new Image(600, 400), { id: "drawn-picture", alt: "" });

  function drawFront() {
    const picture = pictures.find((one) => one.checked && one.value !== OWN);
    // Only pictures of this site: one of another host would be told that it is looked at.
    const image = picture?.parentElement.querySelector("img");
    if (image) {
      drawn.src = image.src;
      byId("drawn-own").before(drawn);
    } else {
      drawn.remove();
    }
    byId("drawn-own").hidden = Boolean(image);
  }

  function show(place, text) {
    place.textContent = text || place.dataset.empty;
    place.classList.toggle("empty", !text);
  }

  function drawBack() {
    const card = read();
    const message = byId("drawn-message");
    const { options, selectedIndex } = field("country");
    const country = card.country ? options[selectedIndex].textContent : "";
    const place = [card.postal_code, card.city].filter(Boolean).join(" ");
    const lines = [card.name, card.address, place, card.province === card.city ? "" : card.province, country];
    show(byId("drawn-address"), lines.filter((line) => line.trim()).join("\n"));
    show(message, card.message.slice(0, 4_000));
    let fits = false;
    for (const size of SIZES) {
      message.style.fontSize = `${size}em`;
      fits = message.scrollHeight <= message.clientHeight + 1;
      if (fits) break;
    }
    byId("drawn-long").hidden = fits;
  }

  function count() {
    const counter = byId("message-count");
    const { max, left, leftOne, leftNone, over, overOne } = counter.dataset;
    const room = Number(max) - [...field("message").value].length;
    const many = (one, others) => (Math.abs(room) === 1 ? one : others.replace("{count}", String(Math.abs(room))));
    counter.textContent = room === 0 ? leftNone : room > 0 ? many(leftOne, left) : many(overOne, over);
    counter.classList.toggle("over", room < 0);
    counter.hidden = false;
  }

  let drawing = 0;
  function draw() {
    cancelAnimationFrame(drawing);
    drawing = requestAnimationFrame(() => {
      drawFront();
      drawBack();
      count();
    });
  }

  /** A preview shows the card as it was sent, and pays for that one. */
  function outdate() {
    const pay = byId("pay-form");
    if (!pay) return;
    pay.hidden = true;
    byId("proof-stale").hidden = false;
  }

  function changed() {
    keep();
    draw();
    outdate();
  }

  form.addEventListener("input", (event) => {
    if (event.target.id === "front_image_url" && event.target.value) choose(OWN);
    changed();
  });
  window.addEventListener("hashchange", () => {
    if (takeFragment()) changed();
  });
  // A page that comes back from the browser's memory shows the card as it was last seen in this tab.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) start();
  });

  /** The answer to a form contains the card; an empty form takes what this tab remembers. */
  function start() {
    const answered = byId("faults") ?? byId("proof") ?? byId("notice");
    if (takeFragment()) return draw();
    if (answered) {
      keep();
      // A reload then asks for the empty form, instead of sending the card again.
      history.replaceState(history.state, "", location.pathname + location.search);
      answered.focus();
    } else {
      const card = recall();
      if (card) write(card);
    }
    return draw();
  }

  byId("drawing").hidden = false;
  window.addEventListener("resize", draw);
  start();
})();
