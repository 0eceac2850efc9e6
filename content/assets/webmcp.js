// Offers three read-only tools to an agent inside the browser (WebMCP).
// Each one asks this site's own MCP server and hands back its answer.
(() => {
  "use strict";

  const context = document.modelContext ?? navigator.modelContext;
  if (!context || typeof context.registerTool !== "function") return;

  let count = 0;

  const failure = (text) => ({ content: [{ type: "text", text }], isError: true });

  async function call(name, args) {
    try {
      const response = await fetch("/mcp", {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "Accept": "application/json, text/event-stream",
        },
        credentials: "omit",
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: (count += 1),
          method: "tools/call",
          params: { name, arguments: args },
        }),
      });
      if (response.status === 429) {
        const wait = response.headers.get("Retry-After") ?? "60";
        return failure(`Too many requests. Try again in ${wait} seconds.`);
      }
      let text = await response.text();
      if ((response.headers.get("Content-Type") ?? "").startsWith("text/event-stream")) {
        text = text.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5)).join("\n");
      }
      const message = JSON.parse(text);
      if (message.error) return failure(message.error.message ?? "The server refused the call.");
      const { content = [], structuredContent, isError = false } = message.result ?? {};
      return structuredContent === undefined ? { content, isError } : { content, structuredContent, isError };
    } catch {
      return failure("The server gave no readable answer. Try again later.");
    }
  }

  const tools = [
    {
      name: "list_shop_products",
      description: "List every product in the Bitcoin hardware shop with its slug, price and stock.",
      inputSchema: { type: "object", properties: {}, additionalProperties: false },
      pick: () => ({}),
    },
    {
      name: "search_support_faq",
      description: "Search the support answers about postcards, payments and the shop; returns matching questions with their ids.",
      inputSchema: {
        type: "object",
        properties: {
          query: { type: "string", minLength: 1, maxLength: 200, description: "Words to look for, for example: refund." },
        },
        required: ["query"],
        additionalProperties: false,
      },
      pick: (input) => ({ query: String(input?.query ?? "") }),
    },
    {
      name: "read_public_page_markdown",
      description: "Read one public page of this site as Markdown, given its path.",
      inputSchema: {
        type: "object",
        properties: {
          path: { type: "string", pattern: "^/", maxLength: 200, description: "Path of the page, for example: /docs." },
        },
        required: ["path"],
        additionalProperties: false,
      },
      pick: (input) => ({ path: String(input?.path ?? "") }),
    },
  ];

  for (const { pick, ...tool } of tools) {
    try {
      const done = context.registerTool({
        ...tool,
        annotations: { readOnlyHint: true },
        execute: (input) => call(tool.name, pick(input)),
      });
      // Some browsers answer with a promise: a refusal must not surface as an error of the page.
      if (done && typeof done.catch === "function") done.catch(() => {});
    } catch {
      // A browser that refuses a tool simply goes without it.
    }
  }
})();
