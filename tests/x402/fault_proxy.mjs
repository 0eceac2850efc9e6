// A proxy that fails a third of the calls, the same ones for the same seed.
import { createHash } from "node:crypto";
import { Agent, createServer, request as ask } from "node:http";

/** The probability of a fault in successive phases. The mean is a third; without quiet phases, work of many calls would never complete. */
const FORCES = [0, 3 / 30, 10 / 30, 15 / 30, 22 / 30];
/** How long the port is closed. */
const ABSENCE_MILLISECONDS = 300;

/** A number from 0 to 1, determined by the seed and these words. */
export function chance(seed, ...words) {
  const hash = createHash("sha256").update(JSON.stringify([seed, ...words])).digest();
  return hash.readUIntBE(0, 6) / 2 ** 48;
}

/** One of the names, with probability in proportion to its weight. */
export function draw(weights, luck) {
  const all = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
  let left = luck * all;
  for (const [name, weight] of Object.entries(weights)) {
    left -= weight;
    if (left < 0) return name;
  }
  throw new Error("the luck is not below 1");
}

/** The probabilities of five successive phases, in random order. */
function forces(seed, place, round) {
  return FORCES.map((force, at) => [chance(seed, place, "phase", round, at), force]).sort(([one], [other]) => one - other).map(([, force]) => force);
}

/** Weights of the faults of a node. `error`: the node executes the call and reports an error. */
export const NODE = () => ({ cut_before: 20, cut_after: 20, status_before: 12, status_after: 12, garbage: 12, error: 12, absent: 1, hang_before: 1, hang_after: 1 });

/** Weights of the faults of a facilitator, by endpoint. */
export const FACILITATOR = path =>
  path === "/settle"
    ? { cut_before: 10, cut_after: 10, status_before: 8, status_after: 8, garbage: 8, pending_as_500: 10, wrong_amount: 10, wrong_network: 10, absent: 2, hang_before: 1, hang_after: 1 }
    : { cut_before: 20, cut_after: 20, status_before: 20, garbage: 20, absent: 2, hang_before: 1 };

const bent = change => answer => ({ ...answer, body: JSON.stringify(change(JSON.parse(answer.body))) });
const onlyOfSuccess = change => said => (said.success ? change(said) : said);
const JSON_TYPE = { "content-type": "application/json" };

/** What becomes of a good answer. `undefined` closes the connection. */
const AFTER = {
  cut_after: () => undefined,
  status_after: () => ({ status: 500, headers: {}, body: "<h1>Internal Server Error</h1>" }),
  garbage: ({ body }) => ({ status: 200, headers: JSON_TYPE, body: body.slice(0, Math.floor(body.length / 2)) }),
  error: bent(({ id }) => ({ jsonrpc: "2.0", id, error: { code: -32603, message: "internal error" } })),
  wrong_amount: bent(onlyOfSuccess(said => ({ ...said, amount: String(BigInt(said.amount) + 1n) }))),
  wrong_network: bent(onlyOfSuccess(said => ({ ...said, network: "eip155:1" }))),
  pending_as_500: answer => ({ ...bent(onlyOfSuccess(said => ({ ...said, success: false, errorReason: "settlement_pending" })))(answer), status: 500 }),
};

/**
 * `place` names the proxy in the seed and in the tally; `phase` is the number of calls of one path in a phase; `share` is
 * how many calls fail. `see` is called with the body of each call, whatever becomes of it.
 */
export async function startProxy({ seed, place, target, kinds, phase, share = 1 / 3, host = "127.0.0.1", see = () => {} }) {
  const agent = new Agent({ keepAlive: true });
  const tally = { calls: 0, broken: 0, kinds: {} };
  const numbers = new Map();
  let mode = "faults";

  const kindOf = path => {
    if (mode === "calm") return "none";
    const number = numbers.get(path) ?? 0;
    numbers.set(path, number + 1);
    tally.calls += 1;
    const endpoint = `${place}${path}`;
    const nth = Math.floor(number / phase(path));
    const force = forces(seed, endpoint, Math.floor(nth / FORCES.length))[nth % FORCES.length];
    if (chance(seed, endpoint, "call", number) >= 3 * share * force) return "none";
    const kind = draw(kinds(path), chance(seed, endpoint, "kind", number));
    tally.broken += 1;
    tally.kinds[kind] = (tally.kinds[kind] ?? 0) + 1;
    return kind;
  };

  const forward = (method, path, headers, body) =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(target);
      const kept = { "content-type": headers["content-type"] ?? "application/json", "content-length": body.length };
      const out = ask({ agent, hostname, port, method, path, headers: kept }, answer => {
        const pieces = [];
        answer.on("data", piece => pieces.push(piece));
        answer.on("end", () => resolve({ status: answer.statusCode, headers: { "content-type": answer.headers["content-type"] ?? "text/plain" }, body: Buffer.concat(pieces).toString() }));
        answer.on("error", reject);
      });
      out.on("error", reject);
      out.end(body);
    });

  /** As during a restart: open connections are closed, and new ones are refused. */
  const vanish = () => {
    if (!server.listening) return;
    const { port } = server.address();
    server.close();
    server.closeAllConnections();
    setTimeout(() => mode !== "over" && server.listen(port, host), ABSENCE_MILLISECONDS);
  };

  const serve = async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    see(Buffer.concat(pieces).toString());
    const kind = kindOf(request.url);
    const cut = () => request.socket.destroy();
    if (kind === "cut_before") return cut();
    if (kind === "absent") return vanish();
    if (kind === "hang_before") return undefined;
    if (kind === "status_before") return response.writeHead(500).end("<h1>Internal Server Error</h1>");
    const good = await forward(request.method, request.url, request.headers, Buffer.concat(pieces));
    if (kind === "hang_after") return undefined;
    const said = kind === "none" ? good : AFTER[kind](good);
    return said ? response.writeHead(said.status, said.headers).end(said.body) : cut();
  };

  const server = createServer((request, response) => serve(request, response).catch(() => request.socket.destroy()));
  server.keepAliveTimeout = 60_000;
  await new Promise(done => server.listen(0, host, done));
  const url = `http://${host}:${server.address().port}`;
  return {
    url,
    place,
    tally,
    calm: () => (mode = "calm"),
    stop: () => {
      mode = "over";
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}
