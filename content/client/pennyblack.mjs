#!/usr/bin/env node
// Pennyblack on the command line: asks the nine public, read-only tools of the site's MCP server.
// One file, Node.js 22 or newer, no packages, no key. `node pennyblack.mjs --help` says the rest.
import { readFile } from "node:fs/promises";
import * as util from "node:util";

/** The site that this file was downloaded from. */
const HOME = "{{ base_url }}";
const home = () => process.env.PENNYBLACK_BASE_URL || HOME;
const NODE_MAJOR = 22;
const PROTOCOL_VERSION = "2025-11-25";
const TIMEOUT_SECONDS = 20;
const TIMEOUT_SECONDS_MAX = 600;
/** The length of the quota's window; who asks us to wait longer is not waited for. */
const WAIT_SECONDS_MAX = 60;
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
const EXIT = { REFUSED: 1, USAGE: 2, AWAY: 3 };

// Written as JSON, since a test of the server holds names and flags against its own tools/list.
const TOOLS = [
  { "name": "list_shop_products", "says": "Every product of the shop with its slug, price and availability.",
    "flags": {}, "required": [] },
  { "name": "get_product", "says": "One product: description, specification, price and where its checkout is.",
    "flags": {
      "slug": { "type": "string", "minLength": 1, "maxLength": 100, "description": "Product slug, for example signer-mini" }
    }, "required": ["slug"] },
  { "name": "search_support_faq", "says": "Support questions that match, best first, with their ids.",
    "flags": { "query": { "type": "string", "minLength": 1, "maxLength": 200, "description": "Words to look for" } },
    "required": ["query"] },
  { "name": "get_support_answer", "says": "One support answer in full, as Markdown.",
    "flags": { "id": { "type": "string", "minLength": 1, "maxLength": 100, "description": "Answer id from a search result" } },
    "required": ["id"] },
  { "name": "list_public_pages", "says": "Every page that can be read, with its path and language.",
    "flags": {}, "required": [] },
  { "name": "read_public_page_markdown", "says": "One page as Markdown, by a path that list_public_pages has.",
    "flags": {
      "path": { "type": "string", "pattern": "^/", "maxLength": 200, "description": "Page path, for example /invest" }
    }, "required": ["path"] },
  { "name": "search_public_pages", "says": "Pages that contain the words, each with a line from it.",
    "flags": {
      "query": { "type": "string", "minLength": 1, "maxLength": 200, "description": "Words to look for" },
      "language": { "type": "string", "enum": ["en", "de", "es", "it"], "description": "Only pages in this language" },
      "limit": { "type": "integer", "minimum": 1, "maximum": 20, "default": 5, "description": "How many pages at most" }
    }, "required": ["query"] },
  { "name": "get_postcard_service_info", "says": "What a postcard costs and how it is paid. Orders and pays nothing.",
    "flags": {}, "required": [] },
  { "name": "list_discovery_documents", "says": "Every document that machines can read here, with its path.",
    "flags": {}, "required": [] }
];
/** Read like a tool, but makes no request. */
const LISTING = { name: "tools", says: "The nine tools; with --json also the rules of their flags.", flags: {}, required: [] };
/** Read like a tool, but makes no request: the card goes into the part of a link that no browser sends. */
const HAND_OFF = {
  name: "hand_off", says: "A link with which a person reviews and pays a card that you wrote. Sends nothing.",
  flags: {
    body: { type: "string", minLength: 1, maxLength: 4096, description: "File with the card as JSON, as the API takes it" },
    language: { type: "string", enum: ["en", "de", "es", "it"], description: "Language of the form" },
  }, required: ["body"],
};
const LOCAL = [LISTING, HAND_OFF];
const CARD_BYTES_MAX = 16 * 1024;

/** Flags to learn from; the checks of the site try every one of them. */
const EXAMPLES = {
  hand_off: "--body card.json --language en",
  get_product: "--slug signer-mini",
  search_support_faq: "--query \"refund\"",
  get_support_answer: "--id delivery-time",
  read_public_page_markdown: "--path /docs",
  search_public_pages: "--query \"self custody\" --language en --limit 3",
};

/** How the answer of each tool reads. */
const SHOW = {
  list_shop_products: ({ products }) =>
    columns(products.map(({ slug, price, availability, name }) => [slug, money(price), spaced(availability), name])),
  get_product: (product) => [
    `${product.name} (${product.slug})\n${money(product.price)}, ${spaced(product.availability)}`,
    product.description,
    columns(Object.entries(product.specification)),
    columns([["Page", product.url], ["Checkout", product.checkout_url]]),
  ].join("\n\n"),
  search_support_faq: ({ query, results }) =>
    columns(results.map(({ id, question }) => [id, question])) || nothing(query),
  get_support_answer: ({ question, answer_markdown: answer }) => `${question}\n\n${answer}`,
  list_public_pages: ({ pages }) => columns(pages.map(({ path, language, title }) => [path, language, title])),
  read_public_page_markdown: ({ markdown }) => markdown,
  search_public_pages: ({ query, results }) =>
    results.map(({ path, title, snippet }) => `${path}  ${title}\n    ${snippet}`).join("\n") || nothing(query),
  get_postcard_service_info: (info) =>
    `${info.product}, at most ${money(info.max_price)}\n\n${columns([
      ...info.payment_protocols.map(({ name, endpoint, price }) => [`Pay by ${name}`, `POST ${endpoint} (${price})`]),
      ["Preview", `POST ${info.preview_endpoint}`],
      ["Status", `GET ${info.order_status_endpoint}`],
      ["Required", info.required_fields.join(", ")],
      ["Read on", info.documentation],
    ])}`,
  list_discovery_documents: ({ documents }) => columns(documents.map(({ path, title }) => [path, title])),
};
const money = ({ amount, currency }) => `${amount} ${currency}`;
const spaced = (name) => name.replace(/_/g, " ");
const nothing = (query) => `Nothing found for "${query}". Try fewer or other words.`;

/** Ends the program, in words that say what to do next. */
class Fault extends Error {
  constructor(exit, message) {
    super(message);
    this.exit = exit;
  }
}

// --- From the command line to a question -----------------------------------------------------

/** The flags that every tool takes. */
const OPTIONS = {
  "base-url": { type: "string" }, "timeout": { type: "string" },
  "json": { type: "boolean" }, "help": { type: "boolean", short: "h" },
};

async function main(args) {
  const { names, given, faults } = read(args);
  const [name = "help", ...rest] = names;
  if (name === "help" && (names.length > 0 || given.has("help"))) return print(help());
  if (name === "help") throw new Fault(EXIT.USAGE, [...faults, help()].join("\n"));

  const tool = [...LOCAL, ...TOOLS].find((one) => one.name === name);
  if (!tool) throw new Fault(EXIT.USAGE, `There is no tool "${name}". These are the nine:\n\n${list()}`);
  if (given.has("help")) return print(helpOn(tool));

  faults.push(...rest.map((word) => `"${word}" stands alone; every argument needs its flag, as in --name value.`));
  const values = readArguments(tool, given, faults);
  const place = tool === LISTING ? {} : readPlace(given, faults);
  if (faults.length > 0) {
    throw new Fault(EXIT.USAGE, [...faults, `What ${name} takes: node pennyblack.mjs ${name} --help`].join("\n"));
  }
  if (tool === LISTING) return print(given.has("json") ? json(TOOLS) : list());
  if (tool === HAND_OFF) return print(await handOff(values, place));
  const answer = await ask({ name, values, ...place });
  return print(given.has("json") ? json(answer) : shown(name, answer));
}

/** Words and flags apart. What is wrong with a flag is noted, and told with everything else. */
function read(args) {
  const flags = [...LOCAL, ...TOOLS].flatMap((tool) => Object.keys(tool.flags)).map((flag) => [flag, { type: "string" }]);
  const options = { ...Object.fromEntries(flags), ...OPTIONS };
  const { tokens } = util.parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  const names = [], given = new Map(), faults = [];
  for (const { kind, name, rawName, value, inlineValue } of tokens) {
    const takesValue = options[name]?.type === "string";
    if (kind === "positional") names.push(value);
    else if (kind === "option-terminator") continue;
    else if (!Object.hasOwn(options, name)) faults.push(`${rawName} is not a flag of anything here.`);
    else if (given.has(name)) faults.push(`${rawName} is there twice.`);
    else if (!takesValue && inlineValue) faults.push(`${rawName} takes no value.`);
    else if (takesValue && (value === undefined || (!inlineValue && value.startsWith("--")))) {
      faults.push(`${rawName} needs a value; one that begins with dashes is written ${rawName}=VALUE.`);
    } else given.set(name, value ?? true);
  }
  return { names, given, faults };
}

/** What the server would refuse is refused here, before anything is sent. */
function readArguments(tool, given, faults) {
  const values = {};
  for (const [name, text] of given) {
    const schema = tool.flags[name];
    if (schema) {
      const { value, fault } = accept(schema, text);
      if (fault) faults.push(`--${name} ${fault}`);
      values[name] = value;
    } else if (!OPTIONS[name]) faults.push(`--${name} is not a flag of ${tool.name}.`);
  }
  for (const name of tool.required) {
    const told = given.has(name) || faults.some((fault) => fault.startsWith(`--${name} `));
    if (!told) faults.push(`--${name} is missing: ${tool.flags[name].description}.`);
  }
  return values;
}

function accept(schema, text) {
  const { type, minimum, maximum, minLength = 1, maxLength = Infinity, enum: choices, pattern, description } = schema;
  if (type === "integer") {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (value >= minimum && value <= maximum) return { value };
    return { fault: `must be a whole number from ${minimum} to ${maximum}.` };
  }
  const length = text.trim() === "" ? 0 : [...text].length;
  if (choices && !choices.includes(text)) return { fault: `must be one of ${choices.join(", ")}.` };
  if (length < minLength || length > maxLength) return { fault: `must have ${minLength} to ${maxLength} characters.` };
  if (pattern && !new RegExp(pattern, "u").test(text)) return { fault: `does not look right. ${description}.` };
  return { value: text };
}

function readPlace(given, faults) {
  const timeout = Number(given.get("timeout") ?? TIMEOUT_SECONDS);
  if (!(timeout > 0 && timeout <= TIMEOUT_SECONDS_MAX)) {
    faults.push(`--timeout must be a number of seconds above 0, at most ${TIMEOUT_SECONDS_MAX}.`);
  }
  const endpoint = endpointAt(given.get("base-url") ?? home());
  if (!endpoint) faults.push("--base-url (or PENNYBLACK_BASE_URL) must be like https://cards.example, and nothing more.");
  return { endpoint, timeout };
}

function endpointAt(base) {
  if (!URL.canParse(base)) return undefined;
  const { protocol, username, password, pathname, search, hash, origin } = new URL(base);
  const bare = pathname === "/" && username + password + search + hash === "";
  return bare && /^https?:$/.test(protocol) ? `${origin}/mcp` : undefined;
}

// --- From a card to a link -------------------------------------------------------------------

/** The link to the form with a card in its fragment. What the form could not use is refused here. */
async function handOff({ body, language = "en" }, { endpoint }) {
  const text = await readFile(body, "utf8").catch(({ code }) => {
    throw new Fault(EXIT.USAGE, `${body} cannot be read: ${code}.`);
  });
  const card = parsed(text);
  const faults = cardFaults(card);
  if (Buffer.byteLength(text) > CARD_BYTES_MAX) faults.push(`The card has more than ${CARD_BYTES_MAX} bytes.`);
  if (faults.length > 0) throw new Fault(EXIT.USAGE, [`${body} is no card that can be handed over.`, ...faults].join("\n"));
  const path = language === "en" ? "/send" : `/${language}/send`;
  return `${new URL(path, endpoint)}#card=${Buffer.from(JSON.stringify(card)).toString("base64url")}`;
}

function cardFaults(card) {
  const isRecord = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  if (!isRecord(card)) return ["It must be one JSON object with front_image_url, message and recipient."];
  const { recipient = {}, ...rest } = card;
  if (!isRecord(recipient)) return ["recipient must be an object."];
  const known = ["front_image_url", "message"], members = ["name", "address", "city", "province", "postal_code", "country"];
  const check = (names, prefix) => ([name, value]) => {
    if (!names.includes(name)) return `${prefix}${name} has no place in the form.`;
    return typeof value === "string" ? [] : `${prefix}${name} must be text.`;
  };
  const faults = [...Object.entries(rest).flatMap(check(known, "")), ...Object.entries(recipient).flatMap(check(members, "recipient."))];
  return faults;
}

// --- From a question to an answer ------------------------------------------------------------

/** Asks, and once more if the quota was spent and is soon open again. */
async function ask(question) {
  let response = await post(question);
  if (response.status === 429) {
    await response.body?.cancel();
    await waitForQuota(response.headers.get("retry-after"));
    response = await post(question);
  }
  return found(question, response, await textOf(question, response));
}

function post({ endpoint, timeout, name, values }) {
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: values } };
  return reaching({ endpoint, timeout }, () => fetch(endpoint, {
    method: "POST",
    redirect: "manual", // as following one may lose what was asked
    signal: AbortSignal.timeout(Math.ceil(timeout * 1000)),
    headers: {
      "Accept": "application/json, text/event-stream",
      "Content-Type": "application/json",
      "MCP-Protocol-Version": PROTOCOL_VERSION,
      "User-Agent": "pennyblack.mjs",
      "X-Service-API-Version": "1",
    },
    body: JSON.stringify(message),
  }));
}

async function waitForQuota(retryAfter) {
  const seconds = /^\d+$/.test(retryAfter ?? "") ? Number(retryAfter) : Infinity;
  if (seconds > WAIT_SECONDS_MAX) {
    const when = seconds === Infinity ? "later" : `in ${seconds} seconds`;
    throw new Fault(EXIT.AWAY, `The quota is spent; all callers share it. Try again ${when}.`);
  }
  complain(`The quota is spent; all callers share it. Waiting ${seconds} s, then asking once more.`);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

/** The whole text of an answer of whatever kind, up to the limit. */
async function textOf(question, response) {
  let chunks = [], bytes = 0;
  await reaching(question, async () => {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) return;
      chunks.push(chunk);
    }
  });
  if (bytes > ANSWER_BYTES_MAX) {
    throw new Fault(EXIT.REFUSED, `The answer has more than ${ANSWER_BYTES_MAX} bytes and was not read to its end.`);
  }
  return Buffer.concat(chunks).toString("utf8");
}

const REASONS = {
  ECONNREFUSED: "the connection was refused", ENOTFOUND: "there is no such host",
  ECONNRESET: "the connection broke off", UND_ERR_SOCKET: "the connection broke off",
};

/** Takes a step over the network, and says in plain words how it failed. */
async function reaching({ endpoint, timeout }, step) {
  try {
    return await step();
  } catch (error) {
    if (error.name === "TimeoutError") {
      throw new Fault(EXIT.AWAY, `${endpoint} did not answer within ${timeout} s. Try again, or allow more with --timeout.`);
    }
    const reason = error.cause?.code ?? error.cause?.message ?? error.message;
    const words = `${endpoint} cannot be reached: ${REASONS[reason] ?? reason}.`;
    throw new Fault(EXIT.AWAY, `${words} Is the server up, and --base-url right?`);
  }
}

/** What the tool found, or who refused and why. */
function found({ endpoint }, { status, headers }, text) {
  const type = headers.get("content-type") ?? "no type";
  const message = /^application\/json\s*(;|$)/i.test(type) ? parsed(text) : undefined;
  const why = typeof message?.error?.message === "string" ? message.error.message : undefined;
  if (status === 429) throw new Fault(EXIT.AWAY, "The quota is spent again; all share it. Try again in a minute.");
  if ([502, 503, 504].includes(status)) {
    throw new Fault(EXIT.AWAY, `The server is away for the moment (HTTP ${status}). ${why ?? "Try again later."}`);
  }
  if (status >= 300 && status < 400) {
    throw new Fault(EXIT.REFUSED, `${endpoint} points to ${headers.get("location")}. Name the right --base-url.`);
  }
  if (status !== 200) throw new Fault(EXIT.REFUSED, `The server refused (HTTP ${status}). ${why ?? "It did not say why."}`);
  if (why) throw new Fault(EXIT.REFUSED, `The server refused. ${why}`);
  const { isError, content, structuredContent } = message?.result ?? {};
  if (isError === true) {
    const said = Array.isArray(content) ? content.map((part) => part?.text).filter(Boolean).join("\n") : "";
    throw new Fault(EXIT.REFUSED, said || "The tool failed and did not say why.");
  }
  if (structuredContent === null || typeof structuredContent !== "object") {
    throw new Fault(EXIT.REFUSED, `${endpoint} sent something (${type}) that is no answer of a tool. Is --base-url right?`);
  }
  return structuredContent;
}

function parsed(text) {
  try { return JSON.parse(text); } catch { return undefined; }
}

// --- From an answer to words -----------------------------------------------------------------

function shown(name, answer) {
  try {
    return `${SHOW[name](whole(answer))}`;
  } catch {
    return json(answer); // of a newer server, perhaps; its data is still good to read
  }
}

/** The same data, but a member that is not there is an error and no "undefined" in a sentence. */
function whole(data) {
  const get = (object, name) => {
    if (!(name in object)) throw new TypeError(`${String(name)} is not there`);
    return whole(object[name]);
  };
  return data !== null && typeof data === "object" ? new Proxy(data, { get }) : data;
}

/** Rows under each other, each column as wide as its widest cell. */
function columns(rows) {
  const width = (column) => Math.max(...rows.map((row) => row[column].length));
  const padded = (row) => row.map((cell, column) => (column < row.length - 1 ? cell.padEnd(width(column)) : cell));
  return rows.map((row) => padded(row).join("  ")).join("\n");
}

function help() {
  return `Pennyblack from your terminal: the shop, the support desk and the pages.
It only reads. Nothing here pays, orders or sees an account; no key is needed.

Usage:
  node pennyblack.mjs tools                  what can be asked, in nine tools
  node pennyblack.mjs TOOL --help            what one of them takes, with an example
  node pennyblack.mjs TOOL [--name value]    ask it
  node pennyblack.mjs hand_off --body FILE   a link with which a person pays a card that you wrote

Try these first:
  node pennyblack.mjs list_shop_products
  node pennyblack.mjs get_product ${EXAMPLES.get_product}
  node pennyblack.mjs search_support_faq ${EXAMPLES.search_support_faq}

Flags for every tool:
  --json               the answer as JSON, for programs
  --base-url URL       another server, also by PENNYBLACK_BASE_URL; now ${home()}
  --timeout SECONDS    how long to wait for the answer; ${TIMEOUT_SECONDS} if you do not say
  --help, -h           this, or what one tool takes

Exit codes:
  0    the answer is on standard output
  1    the tool or the server said no; asking the same again will not help
  2    the command line is wrong, or Node.js too old; nothing was sent
  3    no answer for now: the server is away or too slow, or the quota is spent

All callers share the quota. When it is spent and opens again within ${WAIT_SECONDS_MAX} seconds,
the client says so, waits, and asks once more.`;
}

const list = () =>
  `${columns(TOOLS.map(({ name, says }) => [name, says]))}\n\nWhat one takes: node pennyblack.mjs TOOL --help`;

function helpOn(tool) {
  const flag = ([name, { type, enum: choices, minimum, maximum, default: usual, description }]) => {
    const range = type === "integer" ? `${minimum} to ${maximum}` : choices?.join(", ");
    const need = tool.required.includes(name) ? "required" : usual && `${usual} if you do not say`;
    const notes = [range, need].filter(Boolean).join("; ");
    return [`  --${name}`, notes ? `${description} (${notes})` : description];
  };
  const flags = columns(Object.entries(tool.flags).map(flag)) || "  none of its own";
  const example = ["  node pennyblack.mjs", tool.name, EXAMPLES[tool.name]].filter(Boolean).join(" ");
  return `${tool.says}\n\nFlags:\n${flags}\n\nExample:\n${example}\n
Flags that every tool takes, and exit codes: node pennyblack.mjs --help`;
}

/** Letters that steer a terminal, or turn the direction of what follows. Lines and tabs may stay. */
const STEERING = /(?![\n\t])[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function json(value) {
  const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value, null, 2).replace(STEERING, escaped);
}

const plain = (text) => `${text.replace(/\r\n/g, "\n").replace(STEERING, "\ufffd").trimEnd()}\n`;
const print = (text) => process.stdout.write(plain(text));
const complain = (text) => process.stderr.write(plain(text));

// --- Here it begins --------------------------------------------------------------------------

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on("error", (error) => { if (error.code !== "EPIPE") throw error; });
if (Number(process.versions.node.split(".")[0]) < NODE_MAJOR) {
  complain(`This needs Node.js ${NODE_MAJOR} or newer, and this is ${process.versions.node}. https://nodejs.org has it.`);
  process.exitCode = EXIT.USAGE;
} else {
  await main(process.argv.slice(2)).catch((fault) => {
    if (!(fault instanceof Fault)) throw fault;
    complain(fault.message);
    process.exitCode = fault.exit;
  });
}
