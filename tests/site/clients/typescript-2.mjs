// The official TypeScript client, version 2: with the handshake, with version discovery, and with a pinned version.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { base, verdict } from "../lib.mjs";
import { modern, walk } from "./walk.mjs";

async function visit(title, era, mode) {
  const client = new Client({ name: "pennyblack-check", version: "1.0.0" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", base)));
  await walk(`TypeScript 2.x ${title}`, era, {
    about: () => ({ server: client.getServerVersion(), version: client.getNegotiatedProtocolVersion() }),
    tools: async () => (await client.listTools()).tools,
    call: (name, given) => client.callTool({ name, arguments: given }),
    resources: async () => (await client.listResources()).resources,
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    read: (uri) => client.readResource({ uri }),
    complete: (uri, name, value) => client.complete({ ref: { type: "ref/resource", uri }, argument: { name, value } }),
  });
  await client.close();
}

await visit("as it comes", "legacy", "legacy");
await visit("asking first", "modern", "auto");
await visit("pinned", "modern", { pin: modern });
verdict();
