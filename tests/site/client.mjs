// The command-line client: download, hash, every tool, every error.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { base, fail, get, judge, note, pass, sitemap, verdict } from "./lib.mjs";
import { answered, closedPort, serve } from "./servers.mjs";

const NODE_MAJOR = "22";
/** A client that runs longer than this hangs. */
const PATIENCE_MILLISECONDS = 60_000;
/** Longer than the time-out in these tests, shorter than the default one. */
const SOON_SECONDS = 15;
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const folder = await mkdtemp(join(tmpdir(), "client-"));
const program = join(folder, "pennyblack.mjs");

function execute(command, args, environment = {}) {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: folder,
      env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: PATIENCE_MILLISECONDS,
      killSignal: "SIGKILL",
    });
    let out = "", err = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (err += text));
    child.on("error", reject);
    child.on("close", (exit) => resolve({ exit, out, err, seconds: (performance.now() - begun) / 1000 }));
  });
}

const run = (args, environment) => execute(process.execPath, [program, ...args], environment);

/** Runs the client and returns what differs from the expected result. `says` is one or more parts of the output. */
async function expect(line, args, { exit, says = [], environment, also = () => [] }) {
  const seen = await run(args, environment);
  const [spoken, silent] = exit === 0 ? [seen.out, seen.err] : [seen.err, seen.out];
  const complaints = [];
  if (seen.exit !== exit) complaints.push(`exit code ${seen.exit}, not ${exit}`);
  if (silent !== "") complaints.push(`there should be silence on ${exit === 0 ? "stderr" : "stdout"}: ${silent}`);
  for (const part of [says].flat()) if (!spoken.includes(part)) complaints.push(`does not say "${part}": ${spoken}`);
  if (STEERING.test(seen.out + seen.err)) complaints.push("control characters reach the terminal");
  judge(line, [...complaints, ...also(seen)]);
  return seen;
}

async function download() {
  const file = await get("/client/pennyblack.mjs", "*/*");
  const hash = await get("/client/pennyblack.mjs.sha256", "*/*");
  if (file.status !== 200 || hash.status !== 200) {
    return fail(`the client answers ${file.status}, its hash ${hash.status}`);
  }
  const bytes = Buffer.from(await file.arrayBuffer());
  await writeFile(program, bytes);
  const own = `${createHash("sha256").update(bytes).digest("hex")}  pennyblack.mjs\n`;
  judge("the download has the SHA-256 that is published", own === await hash.text() ? [] : [`it is ${own}`]);
  const imports = [...bytes.toString().matchAll(/\bimport\b[^;]*?["']([^"']+)["']/g)].map(([, name]) => name);
  judge("it needs nothing but Node", imports.filter((name) => !name.startsWith("node:")));
  return true;
}

/** The commands on the developers' page, as pasted. */
async function pasted() {
  const { origin } = await sitemap();
  if (origin !== base) return note(`the commands on the page call ${origin} and are skipped`);
  const page = await (await get("/developers", "text/markdown")).text();
  const section = page.split("\n## Command-line client\n")[1]?.split("\n## ")[0] ?? "";
  const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, commands]) => commands);
  const seen = await execute("bash", ["-euo", "pipefail", "-c", blocks.join("\n")]);
  const complaints = seen.exit === 0 ? [] : [`exit code ${seen.exit}: ${seen.err}`];
  if (!seen.out.includes("pennyblack.mjs: OK")) complaints.push("sha256sum does not say OK");
  judge(`${blocks.join("").trim().split("\n").length} commands of the page, pasted`, complaints);
}

// --- The nine tools against the service --------------------------------------------------------

/** The data that the text output of each tool must contain. */
const MENTIONED = {
  list_shop_products: ({ products }) => products.flatMap(({ slug, name, price }) => [slug, name, price.amount]),
  get_product: ({ name, description, price, specification, url, checkout_url: checkout }) =>
    [name, description, price.amount, url, checkout, ...Object.entries(specification).flat()],
  search_support_faq: ({ results }) => results.flatMap(({ id, question }) => [id, question]),
  get_support_answer: ({ question, answer_markdown: answer }) => [question, answer],
  list_public_pages: ({ pages }) => pages.flatMap(({ path, title }) => [path, title]),
  read_public_page_markdown: ({ markdown }) => [markdown.trimEnd()],
  search_public_pages: ({ results }) => results.flatMap(({ path, title, snippet }) => [path, title, snippet.trimEnd()]),
  get_postcard_service_info: (info) =>
    [info.product, info.max_price.amount, info.preview_endpoint, info.documentation, ...info.required_fields,
      ...info.payment_protocols.map(({ endpoint }) => endpoint)],
  list_discovery_documents: ({ documents }) => documents.flatMap(({ path, title }) => [path, title]),
};

async function ask(method, params) {
  const answer = await fetch(new URL("/mcp", base), {
    method: "POST",
    headers: { "accept": "application/json, text/event-stream", "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return (await answer.json()).result;
}

/** The flags of the example in a tool's own help. */
async function example(name) {
  const { out } = await run([name, "--help"]);
  const line = out.match(/Example:\n {2}node pennyblack\.mjs (\S+)(.*)\n/);
  if (line?.[1] !== name) throw new Error(`the help of ${name} has no example: ${out}`);
  return [...line[2].matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare);
}

function argumentsOf(flags) {
  const pairs = flags.flatMap((flag, place) => (place % 2 === 0 ? [[flag.slice(2), flags[place + 1]]] : []));
  return Object.fromEntries(pairs.map(([name, value]) => [name, name === "limit" ? Number(value) : value]));
}

async function everyTool() {
  const { tools } = await ask("tools/list", {});
  const known = JSON.parse((await run(["tools", "--json"])).out);
  const ours = known.map(({ name, flags, required }) => ({ name, flags, required }));
  const theirs = tools.map(({ name, inputSchema: { properties, required = [] } }) => ({ name, flags: properties, required }));
  judge(`the ${ours.length} tools and their flags are those of the server`,
    isDeepStrictEqual(ours, theirs) && ours.length === 9 ? [] : theirs.map((tool) => JSON.stringify(tool)));
  for (const { name } of known) {
    const flags = await example(name);
    const there = ["--base-url", base];
    const { structuredContent: data } = await ask("tools/call", { name, arguments: argumentsOf(flags) });
    const parts = MENTIONED[name](data);
    await expect(`${name} as text`, [name, ...flags, ...there], {
      exit: 0,
      says: parts,
      also: ({ out }) => (parts.length === 0 || /^\{|undefined|\[object/.test(out) ? [`reads badly: ${out}`] : []),
    });
    await expect(`${name} as JSON`, [name, "--json", ...flags, ...there], {
      exit: 0,
      also: ({ out }) => (isDeepStrictEqual(JSON.parse(out), data) ? [] : [`is not the data: ${out}`]),
    });
  }
  await expect("a search that finds nothing says so", ["search_support_faq", "--query", "zzqxv", "--base-url", base],
    { exit: 0, says: "Nothing found" });
}

async function everyNo() {
  const there = ["--base-url", base];
  for (const [args, says] of [
    [["get_product", "--slug", "moon"], "Call list_shop_products"],
    [["get_support_answer", "--id", "moon"], "Call search_support_faq"],
    [["read_public_page_markdown", "--path", "/moon"], "Call list_public_pages"],
    [["get_product", "--slug", "moon", "--json"], "Call list_shop_products"],
  ]) await expect(`the tool says no: ${args.join(" ")}`, [...args, ...there], { exit: 1, says });
}

// --- What is wrong before anything is sent -----------------------------------------------------

async function everyMistake() {
  const server = await serve(answered({}));
  const there = ["--base-url", server.url];
  for (const [args, says] of [
    [["buy_everything"], ["no tool \"buy_everything\"", ...Object.keys(MENTIONED)]],
    [["list_shop_products", "--colour", "red"], ["--colour is not a flag", "\"red\" stands alone"]],
    [["list_shop_products", "--slug", "a"], "--slug is not a flag of list_shop_products"],
    [["list_shop_products", "--constructor"], "--constructor is not a flag"],
    [["get_product"], "--slug is missing: Product slug, for example signer-mini"],
    [["get_product", "--slug"], "--slug needs a value"],
    [["get_product", "--slug", "--json"], "--slug needs a value"],
    [["get_product", "--slug", " "], "--slug must have 1 to 100 characters"],
    [["get_product", "--slug", "é".repeat(101)], "--slug must have 1 to 100 characters"],
    [["get_product", "--slug", "a", "--slug", "b"], "--slug is there twice"],
    [["get_product", "signer-mini"], ["\"signer-mini\" stands alone", "--slug is missing"]],
    [["get_product", "--slug", "a", "--json=yes"], "--json takes no value"],
    [["read_public_page_markdown", "--path", "docs"], "--path does not look right. Page path, for example /invest"],
    [["search_public_pages", "--query", "a", "--language", "fr", "--limit", "21"],
      ["--language must be one of en, de, es, it", "--limit must be a whole number from 1 to 20"]],
    [["search_public_pages", "--query", "a", "--limit", "1.5"], "--limit must be a whole number"],
    [["get_product", "--slug", "a", "--timeout", "0"], "--timeout must be"],
    [["get_product", "--slug", "a", "--timeout", "soon"], "--timeout must be"],
    [["tools", "--slug", "a"], "--slug is not a flag of tools"],
    [[], "Usage:"],
    [["--json"], "Usage:"],
  ]) {
    const more = args.length > 1 && args[0] !== "tools" ? there : [];
    await expect(`wrong usage: ${args.join(" ").slice(0, 60)}`, [...args, ...more],
      { exit: 2, says, environment: { PENNYBLACK_BASE_URL: server.url } });
  }
  for (const url of ["moon", "ftp://a.example", "https://a:b@a.example", "https://a.example/?x", "https://a.example/mcp"]) {
    await expect(`wrong usage: --base-url ${url}`, ["list_public_pages", "--base-url", url], { exit: 2, says: "--base-url" });
  }
  judge("nothing was sent for any of them", server.asked.length === 0 ? [] : [`${server.asked.length} requests`]);
  await server.close();
  await expect("--help", ["--help"], { exit: 0, says: ["Usage:", "Exit codes:", "PENNYBLACK_BASE_URL"] });
  await expect("help", ["help"], { exit: 0, says: "Usage:" });
  await expect("tools", ["tools"], { exit: 0, says: Object.keys(MENTIONED) });
  await expect("tools --help", ["tools", "--help"], { exit: 0, says: "--json" });
}

// --- Servers that fail -------------------------------------------------------------------------

const QUESTION = ["get_support_answer", "--id", "a"];
const GOOD = { id: "a", topic: "t", question: "Why?", answer_markdown: "Because." };
const spent = (seconds) => ({ status: 429, headers: seconds === undefined ? {} : { "retry-after": seconds }, body: "{}" });
const problem = (status, message) => ({ status, body: JSON.stringify({ error: { code: "a", message, retry: "never" } }) });
const rpc = (message) => ({ status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }) });

async function everyFailure() {
  const html = { "content-type": "text/html" };
  for (const [line, answers, exit, says, requests = 1] of [
    ["a 500", [problem(500, "Our fault.")], 1, ["HTTP 500", "Our fault."]],
    ["a 500 without words", [{ status: 500, headers: html, body: "<h1>Oops</h1>" }], 1, "It did not say why"],
    ["a 400", [problem(400, "Version 1 only.")], 1, "Version 1 only."],
    ["a 404 in HTML", [{ status: 404, headers: html, body: "<h1>Nowhere</h1>" }], 1, "HTTP 404"],
    ["a gateway without a server", [{ status: 502, headers: html, body: "<h1>Bad gateway</h1>" }], 3, "away for the moment (HTTP 502)"],
    ["a server that rests", [problem(503, "Back soon.")], 3, ["HTTP 503", "Back soon."]],
    ["a redirect", [{ status: 308, headers: { location: "https://b.example/mcp" } }], 1, "points to https://b.example/mcp"],
    ["broken JSON", [{ status: 200, body: "{\"jsonrpc\":\"2.0\"," }], 1, "no answer of a tool"],
    ["HTML where JSON was due", [{ status: 200, headers: html, body: "<h1>Welcome</h1>" }], 1, "(text/html) that is no answer"],
    ["no body at all", [{ status: 200, body: "" }], 1, "no answer of a tool"],
    ["JSON that is no message", [{ status: 200, body: "null" }], 1, "no answer of a tool"],
    ["a result without data", [rpc({ result: { content: [], isError: false } })], 1, "no answer of a tool"],
    ["a JSON-RPC error", [rpc({ error: { code: -32602, message: "Unknown tool." } })], 1, "Unknown tool."],
    ["a tool that says nothing", [rpc({ result: { isError: true } })], 1, "did not say why"],
    ["an answer without an end", [{ status: 200, body: "9".repeat(5 * 1024 * 1024), hang: true }], 1, "more than 4194304 bytes"],
    ["a quota that opens in an hour", [spent("3600")], 3, "Try again in 3600 seconds"],
    ["a quota without a reset time", [spent()], 3, "Try again later"],
    ["a quota that is spent twice", [spent("1"), spent("1")], 3, ["Waiting 1 s", "spent again"], 2],
    ["a connection that is cut", [{ cut: true }], 3, "the connection broke off"],
    ["a connection that is cut in mid-answer", [{ status: 200, body: "{", cut: true }], 3, "the connection broke off"],
  ]) {
    const server = await serve(...answers);
    await expect(line, [...QUESTION, "--base-url", server.url], {
      exit,
      says,
      also: ({ seconds }) => [
        ...(server.asked.length === requests ? [] : [`${server.asked.length} requests, not ${requests}`]),
        ...(seconds < SOON_SECONDS ? [] : [`took ${seconds.toFixed(1)} s`]),
      ],
    });
    await server.close();
  }
}

async function everySilence() {
  const soon = ({ seconds }) => (seconds < SOON_SECONDS ? [] : [`took ${seconds.toFixed(1)} s`]);
  const away = `http://127.0.0.1:${await closedPort()}`;
  await expect("a closed port", [...QUESTION, "--base-url", away], { exit: 3, says: "the connection was refused", also: soon });
  for (const [line, answer] of [
    ["a server that never answers", { hang: true }],
    ["a server that stops in mid-answer", { status: 200, body: "{", hang: true }],
  ]) {
    const server = await serve(answer);
    await expect(line, [...QUESTION, "--base-url", server.url, "--timeout", "0.5"],
      { exit: 3, says: "did not answer within 0.5 s", also: soon });
    await server.close();
  }
}

// --- What is sent, and what is shown -----------------------------------------------------------

async function sentAndShown() {
  let server = await serve(spent("1"), answered(GOOD));
  const seen = await run([...QUESTION, "--base-url", server.url]);
  const patient = seen.exit === 0 && seen.out === "Why?\n\nBecause.\n" && seen.err.includes("Waiting 1 s") && server.asked.length === 2;
  judge("it waits until the quota resets", patient ? [] : [JSON.stringify(seen)]);
  const [{ method, path, headers, body }] = server.asked;
  const expected = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2025-11-25",
    "x-service-api-version": "1",
    "authorization": undefined,
    "cookie": undefined,
  };
  const wrong = Object.entries(expected).filter(([name, value]) => headers[name] !== value).map(([name]) => `${name}: ${headers[name]}`);
  const question = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "get_support_answer", arguments: { id: "a" } } };
  if (`${method} ${path}` !== "POST /mcp") wrong.push(`${method} ${path}`);
  if (body !== JSON.stringify(question)) wrong.push(body);
  judge("the request follows the protocol, and nothing else is sent", wrong);
  await server.close();

  const nasty = { ...GOOD, answer_markdown: "a\u001b[2J\u009b1m\u0007\u202eb\r\nc\td" };
  server = await serve(answered(nasty), answered(nasty), rpc({ result: { isError: true, content: [{ type: "text", text: "no\u001b]0;x\u0007" }] } }));
  const there = ["--base-url", server.url];
  await expect("control characters in a text are not shown", [...QUESTION, ...there], { exit: 0, says: "a\ufffd[2J\ufffd1m\ufffd\ufffdb\nc\td" });
  await expect("control characters in JSON are escaped, and none is lost", [...QUESTION, ...there, "--json"],
    { exit: 0, also: ({ out }) => (JSON.stringify(JSON.parse(out)) === JSON.stringify(nasty) ? [] : [out]) });
  await expect("control characters in a refusal are not shown", [...QUESTION, ...there], { exit: 1, says: "no\ufffd]0;x\ufffd" });
  await server.close();

  server = await serve(answered({ of: "the future" }), answered(GOOD), answered({ ...GOOD, answer_markdown: "word ".repeat(200_000) }));
  await expect("an answer of a shape that is not known is shown as data", [...QUESTION, "--base-url", server.url], { exit: 0, says: "\"of\": \"the future\"" });
  await expect("the flag --base-url is stronger than the variable", [...QUESTION, "--base-url", server.url],
    { exit: 0, says: "Because.", environment: { PENNYBLACK_BASE_URL: "http://127.0.0.1:9" } });
  const cut = await execute("bash", ["-c", "set -o pipefail; node pennyblack.mjs get_support_answer --id a | head -c 3"], { PENNYBLACK_BASE_URL: server.url });
  judge("a closed output pipe is not an error", cut.exit === 0 && cut.err === "" && cut.out === "Why" ? [] : [JSON.stringify(cut)]);
  await server.close();
}

async function oldNode() {
  const pretend = "data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'18.20.8'}})";
  const seen = await execute(process.execPath, ["--import", pretend, program, "tools"]);
  judge("an older Node gets an explanation", seen.exit === 2 && seen.err.includes("needs Node.js 22 or newer, and this is 18.20.8") ? [] : [seen.err]);
}

try {
  if (process.versions.node.split(".")[0] === NODE_MAJOR) pass(`Node ${process.versions.node}`);
  else fail(`this is Node ${process.versions.node}, and the client requires ${NODE_MAJOR}`);
  if (await download()) {
    for (const part of [pasted, everyTool, everyNo, everyMistake, everyFailure, everySilence, sentAndShown, oldNode]) await part();
  }
} finally {
  await rm(folder, { recursive: true });
}
verdict();
