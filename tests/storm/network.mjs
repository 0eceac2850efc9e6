// Network namespaces: one for each process and each database server, and a router between them that can drop packets.
//
// Runs in a network and mount namespace of its own, so nothing of the machine's network changes. A cut is a rule of the
// router without an answer: packets vanish, as they do when a switch fails, and connections stay open.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const ip = (...words) => run("ip", words);

const ROUTER = "router";
/** Nodes, facilitator, provider and payers, which this program runs. */
export const OUTSIDE = "10.77.0.1";
/** Leads to the primary. Each database server has it, and the router knows which one is meant. */
export const DATABASE = "10.77.20.1";
const DATABASE_SUBNET = 21;
const PROCESS_SUBNET = 31;

/** A namespace with one address; `command` runs a program in it. */
const place = (name, subnet) => ({ name, subnet, address: `10.77.${subnet}.1`, command: ["ip", "netns", "exec", name] });

async function join({ name, subnet, address }) {
  await ip("netns", "add", name);
  await ip("-n", name, "link", "set", "lo", "up");
  await ip("link", "add", `link${subnet}`, "netns", ROUTER, "type", "veth", "peer", "name", "eth0", "netns", name);
  await ip("-n", name, "address", "add", `${address}/24`, "dev", "eth0");
  await ip("-n", name, "link", "set", "eth0", "up");
  await ip("-n", ROUTER, "address", "add", `10.77.${subnet}.254/24`, "dev", `link${subnet}`);
  await ip("-n", ROUTER, "link", "set", `link${subnet}`, "up");
  await ip("-n", name, "route", "add", "default", "via", `10.77.${subnet}.254`);
}

async function joinOutside() {
  await ip("link", "set", "lo", "up");
  await ip("link", "add", "outside", "type", "veth", "peer", "name", "link0", "netns", ROUTER);
  await ip("address", "add", `${OUTSIDE}/24`, "dev", "outside");
  await ip("link", "set", "outside", "up");
  await ip("-n", ROUTER, "address", "add", "10.77.0.254/24", "dev", "link0");
  await ip("-n", ROUTER, "link", "set", "link0", "up");
  await ip("route", "add", "default", "via", "10.77.0.254");
}

/** The rules that drop what `from` sends to `to`; with ports, only what it sends to those or from those. */
function rules(from, to) {
  const ends = ["from", from.address, "to", to.address];
  if (to.ports) return to.ports.map(port => [...ends, "ipproto", "tcp", "dport", String(port)]);
  if (from.ports) return from.ports.map(port => [...ends, "ipproto", "tcp", "sport", String(port)]);
  return [ends];
}

const DIRECTIONS = {
  both: (one, other) => [...rules(one, other), ...rules(other, one)],
  requests: (one, other) => rules(one, other),
  answers: (one, other) => rules(other, one),
};

export async function startNetwork(processes) {
  await ip("netns", "add", ROUTER);
  await run("ip", ["netns", "exec", ROUTER, "sysctl", "-qw", "net.ipv4.ip_forward=1"]);
  await joinOutside();
  const services = Array.from({ length: processes }, (_, number) => place(`process${number}`, PROCESS_SUBNET + number));
  const databases = [0, 1].map(number => place(`database${number}`, DATABASE_SUBNET + number));
  for (const one of [...services, ...databases]) await join(one);
  for (const { name } of databases) await ip("-n", name, "address", "add", `${DATABASE}/32`, "dev", "lo");
  return {
    services,
    databases,
    /** DATABASE is this server from now on. */
    route: ({ address }) => ip("-n", ROUTER, "route", "replace", `${DATABASE}/32`, "via", address),
    /** Drops packets between two ends, and returns what ends that. `direction`: both, or only what the first or the other sends. */
    async cut(one, other, direction = "both") {
      const dropped = DIRECTIONS[direction](one, other);
      for (const rule of dropped) await ip("-n", ROUTER, "rule", "add", ...rule, "blackhole");
      return async () => {
        for (const rule of dropped) await ip("-n", ROUTER, "rule", "delete", ...rule, "blackhole");
      };
    },
  };
}
