// A proxy before the node: it forwards a transaction, drops the answer, and then drops further calls.
import { createServer } from "node:http";

export async function startLossyProxy(target) {
  let wanted = 0;
  let left = 0;
  let hits = 0;
  const seen = new Set();

  /** The service may resend an earlier transaction at any time, until it knows that it is in a block. */
  const isNew = body => {
    const raws = [JSON.parse(body)].flat().filter(({ method }) => method === "eth_sendRawTransaction").map(({ params }) => params[0]);
    const fresh = raws.filter(raw => !seen.has(raw));
    for (const raw of fresh) seen.add(raw);
    return fresh.length > 0;
  };

  const serve = async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces).toString();
    const isTransaction = body.includes("eth_sendRawTransaction");
    if (isTransaction && isNew(body) && wanted > 0) [left, wanted] = [wanted, 0];
    // Meanwhile only transactions are forwarded: the node gets them, and their answers are dropped.
    if (left > 0 && !isTransaction) return cut(request);
    const answer = await fetch(target, { method: "POST", headers: { "content-type": "application/json" }, body });
    const said = await answer.text();
    if (left > 0) return cut(request);
    return response.writeHead(answer.status, { "content-type": "application/json" }).end(said);
  };
  const cut = request => {
    left -= 1;
    hits += 1;
    request.socket.destroy();
  };

  const server = createServer((request, response) => serve(request, response).catch(() => request.socket.destroy()));
  await new Promise(done => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Drops so many answers, starting with that of the next new transaction. */
    cut: calls => ([wanted, hits] = [calls, 0]),
    calm: () => ([wanted, left] = [0, 0]),
    /** How many were dropped since the last cut(). */
    hits: () => hits,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
