// Processes of the real service, each in its network namespace and with its own wrong clock.
import { join } from "node:path";
import { chance } from "../x402/fault_proxy.mjs";
import { open, premises, until } from "../x402/service.mjs";

const PORT = 8402;
/** The clocks of the first and the last process differ by so much, and each start adds or takes up to as much as the jitter. */
const APART_SECONDS = 360;
const JITTER_SECONDS = 30;
const RESTART_MILLISECONDS = 500;
/** A Date header has whole seconds, and takes a moment to arrive. */
const DATE_TOLERANCE_SECONDS = 3;

const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

/** The offset of a process's clock in seconds, another one at each start. */
function clockOffset(seed, number, processes, start) {
  const place = number / (processes - 1) - 0.5;
  return Math.round(APART_SECONDS * place + 2 * JITTER_SECONDS * (chance(seed, "clock", number, start) - 0.5));
}

/** `place` is the namespace, `settings` are those of `premises`, and `clockLibrary` is libfaketime. */
async function startService(binary, place, { number, processes, seed, settings, environment, clockLibrary }) {
  const files = premises(settings);
  files.command = place.command;
  Object.assign(files.environment, environment, { PENNYBLACK_LISTEN: `${place.address}:${PORT}`, LD_PRELOAD: clockLibrary, FAKETIME_DONT_FAKE_MONOTONIC: "1", DONT_FAKE_MONOTONIC: "1" });
  const service = { number, address: place.address, url: `http://${place.address}:${PORT}`, folder: files.folder, starts: 0, failedStarts: 0, isSuspended: false, isEnding: false };
  let current;
  /** As a service manager does: a start that fails, for example because the database is away, is repeated. */
  service.start = async () => {
    for (;;) {
      service.offset = clockOffset(seed, number, processes, service.starts);
      files.environment.FAKETIME = `${service.offset < 0 ? "" : "+"}${service.offset}s`;
      service.starts += 1;
      try {
        current = await open(binary, files, join(files.folder, "log"));
        return;
      } catch (error) {
        if (service.isEnding) return;
        service.failedStarts += 1;
        await sleep(RESTART_MILLISECONDS);
      }
    }
  };
  service.kill = () => current.kill();
  service.suspend = () => {
    service.isSuspended = true;
    current.signal("SIGSTOP");
  };
  service.resume = () => {
    service.isSuspended = false;
    current.signal("SIGCONT");
  };
  service.hasten = speed => files.rehearse({ speed });
  service.remove = files.remove;
  await service.start();
  return service;
}

/** Checks that the process really has the clock that it should have. */
async function checkClock({ number, url, offset }) {
  const date = await until(`process ${number} answers`, () => fetch(url).then(({ headers }) => headers.get("date"), () => null));
  const found = (Date.parse(date) - Date.now()) / 1_000;
  if (Math.abs(found - offset) > DATE_TOLERANCE_SECONDS) throw new Error(`the clock of process ${number} is ${found} s from ours, and should be ${offset} s from it`);
}

export async function startServices(binary, places, options) {
  const services = [];
  for (const [number, place] of places.entries()) {
    const service = await startService(binary, place, { ...options, number, processes: places.length });
    await checkClock(service);
    services.push(service);
  }
  return services;
}
