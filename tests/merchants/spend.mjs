// Sends signed payments to a merchant, CALLERS at a time, and prints the result.
//
//   node spend.mjs ENDPOINT CALLERS FILE
//
// Prints how many were paid and refused, the seconds it took, and the median in milliseconds.
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";

const [endpoint, callers, file] = process.argv.slice(2);
const waiting = readFileSync(file, "utf8").trim().split("\n").map(line => line.split("\t"));
const agent = new Agent({ keepAlive: true, maxSockets: Number(callers) });
const times = [];
let refused = 0;

const send = ([name, value, body]) =>
  new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body), [name]: value };
    const asked = request(endpoint, { method: "POST", agent, headers }, answer => answer.resume().once("end", () => resolve(answer.statusCode)));
    asked.once("error", reject).end(body);
  });

async function caller() {
  for (let card = waiting.shift(); card; card = waiting.shift()) {
    const begun = performance.now();
    if ((await send(card)) === 200) times.push(performance.now() - begun);
    else refused += 1;
  }
}

const begun = performance.now();
await Promise.all(Array.from({ length: Number(callers) }, caller));
const seconds = (performance.now() - begun) / 1000;
agent.destroy();
const median = times.sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;
console.log(times.length, refused, seconds.toFixed(3), median.toFixed(1));
