// A proxy before a node that drops transactions, reorders calls or is not reachable; it understands JSON-RPC batches.
import { createServer } from "node:http";
import { keccak256 } from "viem";

const DROP_EVERY = 3;
const DELAY_MILLISECONDS = 40;
/** Calls that show what became of a transaction. */
const OUTCOMES = new Set(["eth_getTransactionReceipt", "eth_getTransactionByHash", "eth_getBlockReceipts", "eth_getLogs"]);
const SENDS = new Set(["eth_sendRawTransaction", "eth_sendRawTransactionSync"]);

const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

/** What a node answers that has accepted a transaction; EIP-7966 has an error for one that is in no block in time. */
function acknowledge({ id, method, params }) {
  const hash = keccak256(params[0]);
  if (method === "eth_sendRawTransaction") return { jsonrpc: "2.0", id, result: hash };
  return { jsonrpc: "2.0", id, error: { code: 4, message: "The transaction was added to the mempool but wasn't processed in time.", data: hash } };
}

export async function startFaultyNode(target) {
  const tally = { sends: 0, dropped: 0, hidden: 0, calls: 0, batches: 0 };
  let fault = "none";

  const forward = async body => {
    const response = await fetch(target, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    return response.json();
  };

  /** Whether the node never hears of this call. */
  const isDropped = ({ method }) => {
    if (!SENDS.has(method)) return false;
    tally.sends += 1;
    if (fault !== "drop" || tally.sends % DROP_EVERY !== 0) return false;
    tally.dropped += 1;
    return true;
  };

  /** Each member on its own and after a random delay; the answers are in the order in which they came. */
  const shuffle = async members => {
    const answers = [];
    await Promise.all(members.map(async member => {
      await sleep(DELAY_MILLISECONDS * Math.random());
      answers.push(await forward(member));
    }));
    return answers;
  };

  const serve = async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const body = JSON.parse(Buffer.concat(pieces).toString());
    const isBatch = Array.isArray(body);
    const members = isBatch ? body : [body];
    tally.calls += members.length;
    tally.batches += isBatch ? 1 : 0;
    if (fault === "hide" && members.some(({ method }) => SENDS.has(method) || OUTCOMES.has(method))) {
      tally.hidden += members.filter(({ method }) => SENDS.has(method)).length;
      await forward(body);
      return request.socket.destroy();
    }
    const dropped = members.filter(isDropped);
    const passed = members.filter(member => !dropped.includes(member));
    const answers = dropped.map(acknowledge);
    if (fault === "shuffle") answers.push(...(await shuffle(passed)));
    else if (passed.length > 0) answers.push(...(await forward(isBatch ? passed : passed[0]).then(answer => [answer].flat())));
    const place = ({ id }) => members.findIndex(member => member.id === id);
    if (fault !== "shuffle") answers.sort((one, other) => place(one) - place(other));
    return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(isBatch ? answers : answers[0]));
  };

  const server = createServer((request, response) => serve(request, response).catch(() => request.socket.destroy()));
  server.keepAliveTimeout = 60_000;
  const listen = port => new Promise(resolve => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address();
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    tally,
    /** `none`, `drop`, `shuffle`, or `hide`: transactions reach the node, and no answer about them comes back. */
    setFault: name => (fault = name),
    /** Open connections are cut, and new ones are refused. */
    disconnect: close,
    reconnect: () => listen(port),
    stop: close,
  };
}
