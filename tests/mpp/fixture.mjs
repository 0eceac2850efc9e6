// Starts a chain, the provider emulator and the real service, and counts transfers and cards.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { parseAbiItem } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { card, terms } from "../x402/buyer.mjs";
import { USDC, startChain, who } from "../x402/chains.mjs";
import { open, premises, until } from "../x402/service.mjs";
import { ask } from "./payer.mjs";

const BASE = 8453;
const TRANSFER = parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)");
/** The provider's default rate is too low for these tests. */
const RATE_TIMES = 100;

async function startProvider(binary) {
  const child = spawn(binary, ["0"], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", text => (said += text));
  const url = await until("the provider emulator listens", () => said.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0]);
  const report = async () => (await fetch(`${url}/__sandbox/report`)).json();
  return { url, report, stop: () => child.kill("SIGINT") };
}

/**
 * `between` starts a proxy before the node; `sandbox` are further settings of that section.
 */
export async function startFixture({ between = null, sandbox = {} } = {}) {
  const [binary, providerBinary] = process.argv.slice(2);
  const chain = await startChain(BASE);
  const proxy = await between?.(chain.url);
  const provider = await startProvider(providerBinary);
  const place = premises({
    kind: "settler",
    rpc: { base: proxy?.url ?? chain.url },
    account: who.facilitator,
    sandbox: { provider: provider.url, ...sandbox },
    provider: { rate_times: RATE_TIMES },
  });
  // Faults are expected, so the log goes to a file.
  const log = between && join(place.folder, "log");
  const fixture = { chain, proxy, service: await open(binary, place, log) };
  const { payTo } = terms(await ask(fixture.service.url, card())).accepts[0];

  /** All payments, oldest first. */
  fixture.transfers = async () => {
    const logs = await chain.reader.getLogs({ address: USDC[BASE], event: TRANSFER, args: { to: payTo }, fromBlock: 0n });
    return logs.map(({ args, transactionHash }) => ({ from: args.from, amount: args.value, transaction: transactionHash }));
  };
  /** Number of cards that the provider accepted; fails if one was accepted twice. */
  fixture.cards = async () => {
    const { accepted, duplicates } = await provider.report();
    if (Object.keys(duplicates).length > 0) throw new Error(`cards accepted twice: ${JSON.stringify(duplicates)}`);
    return accepted;
  };
  /** Transfers and cards during `act`. */
  fixture.during = async act => {
    const [before, had] = [await fixture.transfers(), await fixture.cards()];
    const done = await act();
    const moved = (await fixture.transfers()).slice(before.length);
    return { done, moved, mailed: (await fixture.cards()) - had };
  };
  /** A new account with this amount of USDC and no gas. */
  fixture.newAccount = async (units = 3_500_000n) => {
    const key = generatePrivateKey();
    const account = privateKeyToAccount(key);
    await chain.fund(account.address, units);
    return { key, account };
  };
  fixture.order = async id => (await fetch(`${fixture.service.url}/api/x402/orders/${id}`)).json();
  /** Restarts the service with other settings of the sandbox. */
  fixture.reopen = async settings => {
    await fixture.service.stop();
    place.rehearse(settings);
    fixture.service = await open(binary, place, log);
  };
  fixture.close = async () => {
    await fixture.service.stop();
    proxy?.stop();
    provider.stop();
    chain.stop();
    place.remove();
  };
  return fixture;
}
