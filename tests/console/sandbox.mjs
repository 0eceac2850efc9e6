// A service on the sandbox, with its emulated provider and chain.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Words of every card, which no page may show unless an operator reveals the card.
export const MARKED = ["Zyxwyn Quorraine", "Qumbleton Lane", "Vexmoor", "brambleweft"];
const NEEDS_RECONCILIATION = 5;

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** Waits until `check` returns something, and returns it. */
export async function until(what, check, seconds = 30) {
  const end = Date.now() + seconds * 1000;
  while (Date.now() < end) {
    const found = await check();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`not within ${seconds} s: ${what}`);
}

async function call(method, url, body, headers = {}) {
  const response = await fetch(url, {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return text.trim() ? JSON.parse(text) : undefined;
}

/** Runs a program to its end. */
function run(binary, args, options) {
  return new Promise((done) => {
    let output = "";
    const child = spawn(binary, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
    child.on("exit", (code) => done({ code, output }));
  });
}

export class Sandbox {
  /** Starts the service in a temporary folder. */
  static async start(binary) {
    const sandbox = new Sandbox();
    sandbox.binary = binary;
    sandbox.folder = mkdtempSync(join(tmpdir(), "console-"));
    sandbox.cards = 0;
    const [port, operator] = [await freePort(), await freePort()];
    sandbox.site = `http://127.0.0.1:${port}`;
    sandbox.console = `http://127.0.0.1:${operator}`;
    const environment = {
      PATH: process.env.PATH,
      PENNYBLACK_LISTEN: `127.0.0.1:${port}`,
      PENNYBLACK_OPERATOR_LISTEN: `127.0.0.1:${operator}`,
      PENNYBLACK_DATA: join(sandbox.folder, "data"),
      PENNYBLACK_SANDBOX_PORT: "0",
      PENNYBLACK_CONFIG: join(sandbox.folder, "pennyblack.toml"),
    };
    // The grace period of seven minutes before a card may be submitted again passes in seconds.
    writeFileSync(environment.PENNYBLACK_CONFIG, "[sandbox]\nspeed = 20\n");
    sandbox.options = { cwd: sandbox.folder, env: environment };
    sandbox.output = "";
    sandbox.process = spawn(binary, [], { ...sandbox.options, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [sandbox.process.stdout, sandbox.process.stderr]) {
      stream.on("data", (text) => (sandbox.output += text));
    }
    await until("the service is ready", () => sandbox.isReady());
    sandbox.provider = sandbox.output.match(/mailbox\s+(http:\/\/[^/\s]+)/)[1];
    sandbox.chain = readFileSync(join(sandbox.folder, "data", "sandbox-chain"), "utf8").trim();
    sandbox.token = readFileSync(join(sandbox.folder, "data", "operator.token"), "utf8").trim();
    return sandbox;
  }

  async isReady() {
    if (this.process.exitCode !== null) throw new Error(`the service has ended:\n${this.output}`);
    return fetch(`${this.site}/readyz`).then((response) => response.ok, () => false);
  }

  async stop() {
    this.process.kill();
    await until("the service has ended", () => this.process.exitCode !== null || this.process.signalCode !== null);
    rmSync(this.folder, { recursive: true });
  }

  /** Pays for a new card, and returns its order. */
  async pay(expected = 0) {
    this.cards += 1;
    const body = {
      front_image_url: "https://images.example.org/sea.jpg",
      message: `Card ${this.cards}: ${MARKED[3]}.`,
      recipient: {
        name: MARKED[0],
        address: `12 ${MARKED[1]}`,
        city: MARKED[2],
        province: "London",
        postal_code: "SW1Y 4JH",
        country: "GB",
      },
    };
    const file = `card-${this.cards}.json`;
    writeFileSync(join(this.folder, file), JSON.stringify(body));
    const args = ["pay", "--body", file, "--base-url", this.site, "--sandbox", this.chain, "--rail", "x402", "--yes"];
    const { code, output } = await run(this.binary, args, this.options);
    if (code !== expected) throw new Error(`pay exited with ${code}: ${output}`);
    return output.match(/\b[0-9a-f]{32}\b/)[0];
  }

  /** Pays for a card whose submission gets no answer. The provider does not have it. */
  async payLost() {
    await call("POST", `${this.provider}/__sandbox/faults`, { kind: "reset_before", operation: "send", times: 1 });
    return this.pay(NEEDS_RECONCILIATION);
  }

  /** An order as the operator's API has it. */
  show(order) {
    return call("GET", `${this.console}/v1/orders/${order}`, undefined, { authorization: `Bearer ${this.token}` });
  }

  /** How many cards the provider has accepted. */
  async accepted() {
    return (await call("GET", `${this.provider}/__sandbox/report`)).accepted;
  }

  /** Returns the charge of an order to its payer, in a final block, and returns the transaction. */
  async returnCharge(order) {
    const { payment } = await call("GET", `${this.site}/api/x402/orders/${order}`);
    const { payer } = (await this.show(order)).payment;
    const base = `${this.chain}/__sandbox/${payment.network.split(":")[1]}`;
    await call("POST", `${base}/accounts/${payment.pay_to}`, { usdc: "1000000000" });
    const sent = await call("POST", `${base}/transfers/${payment.pay_to}`, { to: payer, amount: String(payment.amount) });
    await call("POST", `${base}/mine`, { blocks: 100 });
    return sent.transaction;
  }
}
