// A worker thread that sends unpaid requests from one source address as fast as it can, and counts the answers.
import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";
import { card, ENDPOINT } from "../x402/buyer.mjs";

const CALLERS = 16;
const { url, source } = workerData;
const agent = new Agent({ keepAlive: true });
const counts = {};
let isOver = false;
parentPort.once("message", () => (isOver = true));

const ask = () => new Promise(resolve => {
  const asked = request(`${url}${ENDPOINT}`, { method: "POST", agent, localAddress: source, headers: { "content-type": "application/json" } }, answer => answer.resume().once("end", () => resolve(answer.statusCode)));
  asked.once("error", ({ code }) => resolve(code));
  asked.end(JSON.stringify({ ...card(), message: `Flood ${Math.random()}` }));
});

async function caller() {
  while (!isOver) {
    const status = await ask();
    counts[status] = (counts[status] ?? 0) + 1;
  }
}

await Promise.all(Array.from({ length: CALLERS }, caller));
parentPort.postMessage(counts);
