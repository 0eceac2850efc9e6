// Whether only the process with the lease wrote to the outbox, whether everything that was sent is in it, and whether a
// process that was too late changed no order.
import { keccak256 } from "viem";

const SENDS = new Set(["eth_sendRawTransaction", "eth_sendRawTransactionSync"]);
const AT_ONCE = 32;

/** The hashes of all transactions that processes have sent to a node, answered or not. */
export function createSentTransactions() {
  const hashes = new Set();
  const see = body => {
    for (const { method, params } of [JSON.parse(body)].flat()) if (SENDS.has(method)) hashes.add(keccak256(params[0]));
  };
  return { hashes, see };
}

/** 32 bytes each, in hexadecimal digits without a prefix. */
const split = hashes => hashes.match(/.{64}/g).map(hash => `0x${hash}`);

/** The transactions of these rows that are in a block, by nonce. */
async function readMined(chain, rows) {
  const mined = [];
  const hashes = rows.flatMap(row => split(row.hashes).map(hash => ({ hash, nonce: row.nonce })));
  for (let from = 0; from < hashes.length; from += AT_ONCE) {
    const some = await Promise.all(hashes.slice(from, from + AT_ONCE).map(async one => {
      const receipt = await chain.reader.getTransactionReceipt({ hash: one.hash }).catch(() => null);
      return receipt && { ...one, status: receipt.status };
    }));
    mined.push(...some.filter(Boolean));
  }
  return mined;
}

/** Each write of an order names the version that it replaces, so versions only rise in the order of the events. */
export async function checkVersions(database) {
  const [{ events, late }] = await database.rows(
    `SELECT count(*) AS events, count(*) FILTER (WHERE version <= before) AS late
     FROM (SELECT version, lag(version) OVER (PARTITION BY order_id ORDER BY sequence) AS before FROM events) AS each`,
  );
  return { events, faults: late > 0 ? [`${late} of ${events} writes of orders replaced a version that another process had written`] : [] };
}

/** `first` are the transaction counts of the account before the storm, by chain id. */
export async function checkFencing({ database, chains, account, first, sent }) {
  const faults = [];
  const demand = (holds, text) => holds || faults.push(text);
  const [{ writes, stale, unknown }] = await database.rows(
    `SELECT count(*) AS writes, count(*) FILTER (WHERE writer <> holder) AS stale, count(*) FILTER (WHERE holder IS NULL) AS unknown
     FROM storm_writes LEFT JOIN storm_epochs USING (network, account, epoch)`,
  );
  const [{ epochs }] = await database.rows("SELECT count(*) AS epochs FROM storm_epochs");
  demand(stale === 0, `${stale} of ${writes} writes to the outbox came from a process without the lease`);
  demand(unknown === 0, `${unknown} writes to the outbox belong to no epoch`);
  const rows = await database.rows("SELECT network, nonce, encode(hashes, 'hex') AS hashes FROM outbox ORDER BY network, nonce");
  const written = new Set(rows.flatMap(({ hashes }) => split(hashes)));
  const unwritten = [...sent.hashes].filter(hash => !written.has(hash));
  demand(unwritten.length === 0, `${unwritten.length} transactions were sent that are not in the outbox, for example ${unwritten[0]}`);
  let transactions = 0;
  let reverted = 0;
  for (const chain of chains) {
    const its = rows.filter(({ network }) => network === chain.network);
    const mined = await readMined(chain, its);
    const used = await chain.reader.getTransactionCount({ address: account.address, blockTag: "latest" }) - first.get(chain.id);
    transactions += used;
    reverted += mined.filter(({ status }) => status === "reverted").length;
    demand(mined.length === used, `${chain.network}: ${used} transactions of the account are in blocks, and ${mined.length} of them in the outbox`);
    demand(new Set(mined.map(({ nonce }) => nonce)).size === mined.length, `${chain.network}: two transactions with one nonce`);
    demand(its.length === used, `${chain.network}: ${its.length} nonces in the outbox, and ${used} are used`);
  }
  return { faults, writes, epochs, transactions, reverted };
}
