// A worker thread of callers who do not pay: each repeats one attack until it is stopped, and counts the answers.
import { randomBytes } from "node:crypto";
import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";
import { card, ENDPOINT } from "../x402/buyer.mjs";

const CALLERS_PER_ATTACK = 2;

const { url, credentials: [dear, garbage] } = workerData;
const agent = new Agent({ keepAlive: true });

/** Sends a request and answers its status; the body is not read. */
function ask(path, method, headers = {}, body = "") {
  return new Promise(resolve => {
    const sized = body ? { "content-type": "application/json", "content-length": Buffer.byteLength(body) } : {};
    const asked = request(`${url}${path}`, { method, agent, headers: { ...sized, ...headers } }, answer => answer.resume().once("end", () => resolve(answer.statusCode)));
    asked.once("error", () => resolve(0));
    asked.end(body);
  });
}

/** A credential whose signature is longer than a key's and means nothing. */
function garbled({ headers }) {
  const payload = JSON.parse(Buffer.from(headers["payment-signature"], "base64").toString());
  payload.payload.signature = `0x${randomBytes(80).toString("hex")}`;
  return { "payment-signature": Buffer.from(JSON.stringify(payload)).toString("base64") };
}

const ATTACKS = {
  "unspent credential": () => ask(ENDPOINT, "POST", dear.headers, dear.body),
  "random name": () => ask(`/api/x402/resolve/n${randomBytes(8).toString("hex")}`, "GET"),
  "garbage signature": () => ask(ENDPOINT, "POST", garbled(garbage), garbage.body),
  "unpaid request": () => ask(ENDPOINT, "POST", {}, JSON.stringify({ ...card(), message: randomBytes(16).toString("hex") })),
};

let isOver = false;
parentPort.once("message", () => (isOver = true));

async function attack(counts, once) {
  while (!isOver) {
    const status = await once();
    counts[status] = (counts[status] ?? 0) + 1;
  }
}

const statuses = Object.fromEntries(Object.keys(ATTACKS).map(name => [name, {}]));
const callers = Object.entries(ATTACKS).flatMap(([name, once]) => Array.from({ length: CALLERS_PER_ATTACK }, () => attack(statuses[name], once)));
await Promise.all(callers);
parentPort.postMessage(statuses);
