// The Inspector's command line: one process for each call, with both protocol generations.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { base, fail, verdict } from "../lib.mjs";
import { walk } from "./walk.mjs";

const address = new URL("/mcp", base).href;
const programs = join(dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json")), "clients");
// It stores state in the home folder, and its connections in another folder.
const home = mkdtempSync(join(tmpdir(), "inspector-"));
const environment = { ...process.env, HOME: home, MCP_INSPECTOR_DAEMON_DIR: join(home, "daemon"), MCP_INSPECTOR_SECRET_STORE: "memory" };
const TOOL_SAYS_ERROR = 5;
const AT_ONCE = 2;

const waiting = [];
let running = 0;

/** Runs a program, at most AT_ONCE at a time, and returns the JSON that it prints. */
async function run(program, ...words) {
  if (running >= AT_ONCE) await new Promise((free) => waiting.push(free));
  running += 1;
  try {
    return await new Promise((resolve, reject) => {
      execFile(process.execPath, [join(programs, program), ...words], { env: environment, maxBuffer: 1 << 24 }, (error, out, err) => {
        if (error && error.code !== TOOL_SAYS_ERROR) reject(new Error(`${words.join(" ")}: ${error.code}\n${err}`));
        else resolve(JSON.parse(out));
      });
    });
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

/** Its media type and the scheme of its address. */
const kind = ({ mimeType, uri }) => `${mimeType} ${new URL(uri).protocol}`;

async function visit(era) {
  // One connection for each call.
  const once = async (method, ...words) =>
    (await run("cli/build/index.js", address, "--protocol-era", era, "--format", "json", "--method", method, ...words)).result;
  // One connection for all calls; only this program of the Inspector supports completion.
  const connected = (...words) => run("mcpdo/build/mcp-bin.js", "--format", "json", "--connection", era, ...words);
  await connected("connect", address, "--transport", "http", "--era", era);
  await walk("Inspector", era, {
    about: async () => {
      const { serverInfo, protocolVersion } = await once("initialize");
      return { server: serverInfo, version: protocolVersion };
    },
    tools: async () => (await once("tools/list", "--strict")).tools,
    call: (name, given) => once("tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(given)),
    resources: async () => (await once("resources/list")).resources,
    templates: async () => (await once("resources/templates/list")).resourceTemplates,
    // Each read starts a program for a second; the other clients read all.
    selects: (resources) => [...new Map(resources.map((resource) => [kind(resource), resource])).values()],
    read: (uri) => connected("resources/read", uri),
    complete: async (uri, name, value) => ({
      completion: await connected("prompts/complete", "--complete-ref-type", "ref/resource",
        "--complete-ref", uri, "--complete-arg-name", name, "--complete-arg-value", value),
    }),
  });
}

try {
  for (const era of ["legacy", "modern"]) await visit(era);
} catch (error) {
  fail("Inspector", [error.message]);
} finally {
  await run("mcpdo/build/mcp-bin.js", "--format", "json", "daemon", "stop");
  rmSync(home, { recursive: true });
}
verdict();
