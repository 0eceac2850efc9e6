// The official TypeScript client, version 1: with the handshake only.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { base, verdict } from "../lib.mjs";
import { walk } from "./walk.mjs";

const client = new Client({ name: "pennyblack-check", version: "1.0.0" });
const transport = new StreamableHTTPClientTransport(new URL("/mcp", base));
await client.connect(transport);
await walk("TypeScript 1.x", "legacy", {
  about: () => ({ server: client.getServerVersion(), version: transport.protocolVersion }),
  tools: async () => (await client.listTools()).tools,
  call: (name, given) => client.callTool({ name, arguments: given }),
  resources: async () => (await client.listResources()).resources,
  templates: async () => (await client.listResourceTemplates()).resourceTemplates,
  read: (uri) => client.readResource({ uri }),
  complete: (uri, name, value) => client.complete({ ref: { type: "ref/resource", uri }, argument: { name, value } }),
});
await client.close();
verdict();
