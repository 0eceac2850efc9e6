// The smallest server on the official TypeScript SDK: recorded answers, and no session.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";

const [port, path] = process.argv.slice(2);
if (!path) throw new Error("usage: typescript.mjs PORT RECORDED.json");
const { tools, answers } = JSON.parse(readFileSync(path, "utf8"));

// The low-level server, which is faster than the one with registered tools.
function peer() {
  const server = new Server({ name: "peer", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => tools);
  server.setRequestHandler("tools/call", ({ params }) => answers[params.name]);
  return server;
}

const modern = toNodeHandler(createMcpHandler(peer, { legacy: "reject" }));

// Stateless as in its documentation, with plain JSON, which is faster than a stream.
async function legacy(request, response) {
  const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  await peer().connect(transport);
  await transport.handleRequest(request, response);
}

createServer((request, response) => (request.headers["mcp-method"] ? modern : legacy)(request, response))
  .listen(Number(port), "127.0.0.1");
