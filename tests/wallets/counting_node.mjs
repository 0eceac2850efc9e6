// A proxy before a node that counts the calls of each method; it understands JSON-RPC batches.
import { createServer } from "node:http";

/** The methods that ask about a payer or a signature. The service follows blocks with others all the time. */
const QUESTIONS = ["eth_call", "eth_getCode", "eth_estimateGas"];

export async function startCountingNode(target) {
  const counts = new Map();
  const serve = async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces).toString();
    for (const { method } of [JSON.parse(body)].flat()) counts.set(method, (counts.get(method) ?? 0) + 1);
    const answer = await fetch(target, { method: "POST", headers: { "content-type": "application/json" }, body });
    response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  };
  const server = createServer((request, response) => serve(request, response).catch(() => request.socket.destroy()));
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** How often each of them was called. */
    questions: () => Object.fromEntries(QUESTIONS.map(method => [method, counts.get(method) ?? 0])),
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
