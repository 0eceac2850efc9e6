// A wallet contract that accepts signatures in simulations and refuses them in a block: what it costs in gas.
import { formatGwei, pad, toHex } from "viem";
import { generatePrivateKey, privateKeyToAddress, toAccount } from "viem/accounts";
import { rpc } from "../chain/nodes.mjs";
import { who } from "../x402/chains.mjs";
import { until } from "../x402/service.mjs";
import { createAccounts, createOrders, fund, send } from "./payers.mjs";
import { withStack } from "./stack.mjs";
import { count, startTable, words } from "./table.mjs";

const COLUMNS = ["payers", "cards", "rounds", "sent", "failed", "gas", "gwei", "answers"];
const CARDS = 20;
const ROUNDS = 5;
const FAILED_MAX = 1;
/** Answers every question with ERC-1271's yes if its first storage slot is not empty, and with a revert otherwise. */
const CODE = "0x5f546008575f5ffd5b631626ba7e60e01b5f5260205ff3";
const SIGNATURE = `0x${"11".repeat(80)}`;

/** A wallet contract with USDC and an allowance, and how to change its mind. */
async function createWallet(chain) {
  const address = privateKeyToAddress(generatePrivateKey());
  const account = toAccount({ address, signTypedData: async () => SIGNATURE, signMessage: async () => SIGNATURE, signTransaction: async () => SIGNATURE });
  await chain.hand.setCode({ address, bytecode: CODE });
  await fund(chain, [address]);
  const accepts = yes => chain.hand.setStorageAt({ address, index: 0, value: pad(toHex(yes ? 1 : 0), { size: 32 }) });
  await accepts(true);
  return { account, accepts };
}

/** The transactions of the settler's account so far, and those of them that failed. */
async function readTransactions({ reader }) {
  const receipts = [];
  for (let number = await reader.getBlockNumber({ cacheTime: 0 }); number > 0n; number -= 1n) {
    const { transactions } = await reader.getBlock({ blockNumber: number, includeTransactions: true });
    const ours = transactions.filter(({ from }) => from.toLowerCase() === who.facilitator.address.toLowerCase());
    receipts.push(...(await Promise.all(ours.map(({ hash }) => reader.getTransactionReceipt({ hash })))));
  }
  return { sent: receipts.length, failed: receipts.filter(({ status }) => status === "reverted") };
}

const pooled = async ({ url }) => Number((await rpc(url, "txpool_status")).result.pending);

/** All cards at once, with a wallet that changes its mind while the node holds its transaction; then again and again. */
async function measure(stack) {
  const { chain, services: [{ url }] } = stack;
  const { account, accepts } = await createWallet(chain);
  const before = await chain.holds(account.address);
  const orders = await createOrders(stack, [account], ["x402"], CARDS);
  const [honest] = await createOrders(stack, await createAccounts(chain, 1), ["x402"], 1);
  await chain.hand.setAutomine(false);
  const answers = orders.map(order => send(url, order));
  await until("a transaction is in the pool", async () => (await pooled(chain)) > 0);
  await accepts(false);
  await chain.hand.mine({ blocks: 4 });
  await chain.hand.setAutomine(true);
  await Promise.all(answers);
  for (let round = 1; round < ROUNDS; round += 1) {
    await accepts(true);
    await Promise.all(orders.filter(({ outcome }) => outcome !== "paid").map(order => send(url, order)));
  }
  await send(url, honest);
  const { sent, failed } = await readTransactions(chain);
  return { orders, honest, sent, failed, moved: before - (await chain.holds(account.address)) };
}

export async function wallet(programs) {
  const print = startTable(`One wallet contract that passes simulations and fails in a block, ${CARDS} cards at once; one process on SQLite`, COLUMNS);
  const { orders, honest, sent, failed, moved } = await withStack(programs, {}, measure);
  const gas = failed.reduce((sum, { gasUsed }) => sum + gasUsed, 0n);
  const wei = failed.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n);
  const told = orders.flatMap(({ statuses, refusal, code }) => statuses.map((status, at) => (at === statuses.length - 1 ? `${status} ${refusal?.split(" ")[1] ?? code}` : status)));
  print({ payers: 1, cards: CARDS, rounds: ROUNDS, sent, failed: failed.length, gas, gwei: formatGwei(wei), answers: words(count(told)) });
  const missed = [];
  const demand = (holds, text) => holds || missed.push(`wallet: ${text}`);
  demand(failed.length > 0, "no transaction failed, so nothing is shown");
  demand(failed.length <= FAILED_MAX, `${failed.length} transactions failed, at most ${FAILED_MAX} in an hour`);
  demand(honest.outcome === "paid", `another payer was answered ${honest.statuses} ${honest.code}`);
  demand(moved === 0n && orders.every(({ outcome }) => outcome !== "paid"), `${moved} units moved, and ${count(orders.map(({ outcome }) => outcome)).paid ?? 0} orders are paid`);
  return missed;
}
