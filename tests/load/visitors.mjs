// Visitors who do not pay: offers, documents, statuses and MCP calls at a constant rate.
import { card, ENDPOINT } from "../x402/buyer.mjs";
import { sleep } from "./campaign.mjs";

const PER_SECOND = 8;
const JSON_TYPE = { "content-type": "application/json" };
const MCP_HEADERS = { ...JSON_TYPE, accept: "application/json, text/event-stream" };
const MCP_CALL = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };

const VISITS = {
  offer: (url, number) => [`${url}${ENDPOINT}`, { method: "POST", headers: JSON_TYPE, body: JSON.stringify({ ...card(), message: `An offer, number ${number}.` }) }],
  status: url => [`${url}/api/x402/orders/${"0".repeat(32)}`],
  document: url => [`${url}/llms.txt`],
  page: url => [`${url}/`],
  mcp: url => [`${url}/mcp`, { method: "POST", headers: MCP_HEADERS, body: JSON.stringify(MCP_CALL) }],
};

/** Starts the visits; the answer stops them and counts the answers of each kind. */
export function startVisitors(url, luck) {
  const counts = {};
  let isOver = false;
  const visit = async number => {
    const name = Object.keys(VISITS)[Math.floor(luck("visit", number) * Object.keys(VISITS).length)];
    let status;
    try {
      const response = await fetch(...VISITS[name](url, number));
      await response.arrayBuffer();
      status = response.status;
    } catch {
      status = "no answer";
    }
    counts[`${name} ${status}`] = (counts[`${name} ${status}`] ?? 0) + 1;
  };
  const visiting = (async () => {
    for (let number = 0; !isOver; number += 1) {
      void visit(number);
      await sleep(1_000 / PER_SECOND);
    }
  })();
  return async () => {
    isOver = true;
    await visiting;
    return counts;
  };
}
