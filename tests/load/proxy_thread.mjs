// Runs a fault proxy in a thread of its own, so that it answers in time while payers sign: `startProxyThread` from outside.
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { NODE, startProxy } from "../x402/fault_proxy.mjs";

/** Calls of one path in a phase; the probability of a fault changes with each phase. */
const PHASE_CALLS = 80;

/** A proxy before a node, in which this share of all calls fails. */
export async function startProxyThread(options) {
  const worker = new Worker(new URL(import.meta.url), { workerData: options });
  const next = () => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  const tell = word => {
    const answer = next();
    worker.postMessage(word);
    return answer;
  };
  const { url } = await next();
  return { url, calm: () => tell("calm"), stop: () => worker.terminate() };
}

if (!isMainThread && workerData.target) {
  const proxy = await startProxy({ ...workerData, kinds: NODE, phase: () => PHASE_CALLS });
  parentPort.on("message", () => {
    proxy.calm();
    parentPort.postMessage(proxy.tally);
  });
  parentPort.postMessage({ url: proxy.url });
}
