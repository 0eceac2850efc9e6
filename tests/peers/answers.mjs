// Records our answers for the servers of scripts/bench, and checks that these return the same.
//
//   answers.mjs record  PLAN BASE_URL FOLDER   writes recorded.json, and one wrk script for each case
//   answers.mjs compare PLAN BASE_URL PEER     fails unless both return the same
import { deepStrictEqual } from "node:assert";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [purpose, path, base, other] = process.argv.slice(2);
if (!other) throw new Error("usage: answers.mjs record|compare PLAN BASE_URL FOLDER|PEER");
const plan = JSON.parse(readFileSync(path, "utf8"));

/** A request in either protocol generation: headers and message. */
function question(era, method, params = {}) {
  const headers = {
    Accept: "application/json, text/event-stream",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": plan.revisions[era],
  };
  if (era === "legacy") return { headers, message: { jsonrpc: "2.0", id: 1, method, params } };
  headers["Mcp-Method"] = method;
  if (params.name) headers["Mcp-Name"] = params.name;
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": plan.revisions[era],
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  };
  return { headers, message: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } } };
}

async function ask(server, { headers, message }) {
  const answer = await fetch(new URL("/mcp", server), { method: "POST", headers, body: JSON.stringify(message) });
  const text = await answer.text();
  // Behind an event's prefix where a server streams even a single answer.
  const { result, error } = JSON.parse(text.match(/^data: (.+)$/m)?.[1] ?? text);
  if (!result || result.isError) throw new Error(`${server} ${JSON.stringify(message)}: ${JSON.stringify(error ?? result)}`);
  return result;
}

const answers = {};
const calls = {};
for (const { name, arguments: given } of plan.tools) {
  const value = (of) => (of?.from ? of.at.slice(1).split("/").reduce((part, key) => part[key], answers[of.from].structuredContent) : of);
  calls[name] = { name, arguments: Object.fromEntries(Object.entries(given).map(([argument, of]) => [argument, value(of)])) };
  answers[name] = await ask(base, question("legacy", "tools/call", calls[name]));
}

const CASES = {
  list: question("legacy", "tools/list"),
  product: question("legacy", "tools/call", calls.get_product),
  search: question("legacy", "tools/call", calls.search_support_faq),
  modern: question("modern", "tools/call", calls.get_product),
};

if (purpose === "record") {
  const recorded = { tools: await ask(base, CASES.list), answers };
  writeFileSync(join(other, "recorded.json"), JSON.stringify(recorded));
  for (const [name, { headers, message }] of Object.entries(CASES)) {
    const lines = Object.entries(headers).map(([header, value]) => `wrk.headers[${JSON.stringify(header)}] = ${JSON.stringify(value)}`);
    lines.unshift('wrk.method = "POST"', `wrk.body = [[${JSON.stringify(message)}]]`);
    writeFileSync(join(other, `${name}.lua`), lines.join("\n"));
  }
} else {
  for (const asked of Object.values(CASES)) {
    const [ours, theirs] = await Promise.all([ask(base, asked), ask(other, asked)]);
    const said = ({ tools, structuredContent, content }) => ({ tools, structuredContent, content });
    deepStrictEqual(said(theirs), said(ours));
  }
}
