// A worker thread of honest callers: at a fixed rate it requests documents, offers and statuses, and measures each answer.
import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";
import { card, ENDPOINT } from "../x402/buyer.mjs";

const { url, perSecond, order } = workerData;
const kept = new Agent({ keepAlive: true });
const PATIENCE_MILLISECONDS = 20_000;

/** What a caller asks, and the status of a good answer. */
const REQUESTS = [
  { path: "/llms.txt", expected: 200 },
  { path: "/openapi.json", expected: 200 },
  { path: `/api/x402/orders/${order}`, expected: 200 },
  { path: ENDPOINT, expected: 402, body: () => JSON.stringify({ ...card(), message: `An offer, number ${number}.` }) },
];

let [times, wrong, number, isOver] = [[], {}, 0, false];

/** Every second request has a connection of its own. */
function ask() {
  const at = number++;
  const { path, expected, body } = REQUESTS[Math.floor(at / 2) % REQUESTS.length];
  const begun = performance.now();
  const end = status => {
    times.push(performance.now() - begun);
    if (status !== expected) wrong[`${path.slice(0, 24)} ${status}`] = (wrong[`${path.slice(0, 24)} ${status}`] ?? 0) + 1;
  };
  const headers = body ? { "content-type": "application/json" } : {};
  const options = { method: body ? "POST" : "GET", headers, agent: at % 2 === 0 ? kept : false, timeout: PATIENCE_MILLISECONDS };
  const asked = request(`${url}${path}`, options, answer => answer.resume().once("end", () => end(answer.statusCode)));
  asked.once("timeout", () => asked.destroy());
  asked.once("error", ({ code }) => end(code));
  asked.end(body?.());
}

parentPort.on("message", message => {
  if (message === "stop") isOver = true;
  else {
    parentPort.postMessage({ times, wrong });
    [times, wrong] = [[], {}];
  }
});

const begun = performance.now();
for (let sent = 0; !isOver; ) {
  const due = ((performance.now() - begun) * perSecond) / 1_000;
  for (; sent < due; sent += 1) ask();
  await new Promise(resolve => setTimeout(resolve, 1_000 / perSecond));
}
process.exit(0);
