// Small loopback servers with one prepared answer for each request.
import { createServer } from "node:http";

/** A successful answer of a tool. */
export function answered(data) {
  const result = { content: [{ type: "text", text: JSON.stringify(data) }], structuredContent: data, isError: false };
  return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: 1, result }) };
}

/**
 * An answer has `status`, `headers` and `body`; with `cut` the connection is closed after it, with `hang` it stays open.
 * `cut` or `hang` alone sends nothing. The last answer is used for all further requests.
 */
export async function serve(...answers) {
  const asked = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const text of request.setEncoding("utf8")) body += text;
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    asked.push({ method: request.method, path: request.url, headers: request.headers, body });
    const { status, headers, cut, hang } = answer;
    if (status !== undefined) {
      const length = cut || hang ? { "content-length": 100_000_000 } : {};
      response.writeHead(status, { "content-type": "application/json", ...length, ...headers });
      if (!cut && !hang) return response.end(answer.body);
      await new Promise((resolve) => response.write(answer.body, resolve));
    }
    if (cut) request.socket.destroy();
    return undefined;
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    asked,
    close: () => new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    }),
  };
}

/** A port without a listener. */
export async function closedPort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
