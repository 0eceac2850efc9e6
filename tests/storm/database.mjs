// PostgreSQL with a synchronous replica: restarted, failed over, and asked about orders and leases.
import { execFile } from "node:child_process";
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { DATABASE } from "./network.mjs";
import { until } from "../x402/service.mjs";

const run = promisify(execFile);
const USER = "pennyblack";
const PORT = 5432;
const OPTIONS = `-c listen_addresses=0.0.0.0 -c port=${PORT} -c max_connections=300 -c wal_sender_timeout=5s -c wal_receiver_timeout=5s -c wal_retrieve_retry_interval=500ms -c unix_socket_directories=`;
const ACCESS = "host all all 10.77.0.0/16 trust\nhost replication all 10.77.0.0/16 trust\n";
const STATEMENT_SECONDS = 5;

/** Who wrote to the outbox, and which process had the lease at that moment. */
const LOG = `
BEGIN;
LOCK TABLE senders, outbox IN EXCLUSIVE MODE;
CREATE TABLE storm_epochs (network text, account text, epoch bigint, holder text, PRIMARY KEY (network, account, epoch));
CREATE TABLE storm_writes (network text, account text, nonce bigint, epoch bigint, writer text);
INSERT INTO storm_epochs SELECT network, account, epoch, host(client_addr) FROM senders JOIN pg_stat_activity ON pid = backend;
CREATE FUNCTION storm_lead() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO storm_epochs VALUES (NEW.network, NEW.account, NEW.epoch, host(inet_client_addr()));
  RETURN NULL;
END $$;
CREATE FUNCTION storm_write() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO storm_writes SELECT network, account, NEW.nonce, epoch, host(inet_client_addr()) FROM senders WHERE network = NEW.network AND account = NEW.account;
  RETURN NULL;
END $$;
CREATE TRIGGER storm_lead AFTER INSERT OR UPDATE OF epoch ON senders FOR EACH ROW EXECUTE FUNCTION storm_lead();
CREATE TRIGGER storm_write AFTER INSERT OR UPDATE ON outbox FOR EACH ROW EXECUTE FUNCTION storm_write();
COMMIT;`;

/** One server in its namespace. */
function createServer({ name, address, command }, programs, folder) {
  const data = join(folder, name);
  const [first, ...rest] = [...command, "runuser", "-u", "postgres", "--"];
  const execute = (program, ...words) => run(first, [...rest, join(programs, program), ...words]);
  const control = (...words) => execute("pg_ctl", "-D", data, "-w", "-s", "-l", `${data}.log`, ...words);
  return {
    name,
    address,
    data,
    execute,
    start: () => control("-o", OPTIONS, "start"),
    stop: mode => control("-m", mode, "stop"),
    restart: mode => control("-m", mode, "restart"),
    promote: () => control("promote"),
    statement: sql => run("psql", ["-XAtq", "--host", address, "--port", String(PORT), "--username", USER, "--dbname", "postgres", "--command", sql], { env: { ...process.env, PGCONNECT_TIMEOUT: String(STATEMENT_SECONDS), PGOPTIONS: `-c statement_timeout=${STATEMENT_SECONDS}s` }, maxBuffer: 1 << 28 }).then(({ stdout }) => stdout),
  };
}

/** `folder` is for data and logs; `programs` has initdb and pg_ctl. */
export async function startDatabase(network, { folder, programs }) {
  let [primary, replica] = network.databases.map(place => createServer(place, programs, folder));
  mkdirSync(folder);
  await run("chown", ["postgres", folder]);

  const isStreaming = async () => (await primary.statement("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")).trim() === "1";
  /** Copies the primary, and makes every commit wait for the copy. */
  const startReplica = async () => {
    await run("rm", ["-rf", replica.data]);
    await replica.execute("pg_basebackup", "-D", replica.data, "-R", "-c", "fast", "--host", primary.address, "--port", String(PORT), "--username", USER);
    // The replica has no replica of its own, and must not wait for one once it is the primary.
    appendFileSync(join(replica.data, "postgresql.auto.conf"), "synchronous_standby_names = ''\n");
    await replica.start();
    await until("the replica streams", isStreaming);
    await primary.statement("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await primary.statement("SELECT pg_reload_conf()");
  };
  const rows = async sql => JSON.parse(await primary.statement(`SELECT coalesce(json_agg(found), '[]') FROM (${sql}) AS found`));
  /** Waits until the database answers. */
  const whenUp = sql => until("the database answers", () => rows(sql).catch(() => null));

  await primary.execute("initdb", "-D", primary.data, "-U", USER, "--auth=trust", "--encoding=UTF8", "--no-locale");
  appendFileSync(join(primary.data, "pg_hba.conf"), ACCESS);
  await primary.start();
  await network.route(primary);
  await startReplica();
  return {
    url: `postgres://${USER}@${DATABASE}:${PORT}/postgres`,
    rows,
    log: () => primary.statement(LOG),
    restart: mode => primary.restart(mode),
    /** The primary ends, and the replica takes its place and its address. */
    async failOver(mode) {
      await until("the replica streams", isStreaming);
      await primary.stop(mode);
      await replica.promote();
      await network.route(replica);
      [primary, replica] = [replica, primary];
      await startReplica();
    },
    /** Primary and replica do not hear each other, so commits wait. */
    cutReplica: direction => network.cut(primary, replica, direction),
    /** How many orders are in each state that an interruption can strike; with an address, only those of that process. */
    async inPlay(address = null) {
      const mine = address ? `AND worker IN (SELECT id FROM processes JOIN pg_stat_activity ON pid = backend WHERE host(client_addr) = '${address}')` : "";
      return rows(`SELECT state, count(*) AS number FROM orders WHERE state NOT IN ('offered', 'mailed', 'lapsed') ${mine} GROUP BY state`);
    },
    /** The address of the process that has the lease, for each network where one is connected. */
    holders: () => whenUp("SELECT network, host(client_addr) AS holder FROM senders JOIN pg_stat_activity ON pid = backend"),
    /** The address of the process that took the lease last, for each network. */
    lastHolders: () => whenUp("SELECT DISTINCT ON (network) network, holder FROM storm_epochs ORDER BY network, epoch DESC"),
    async stop() {
      for (const server of [replica, primary]) await server.stop("immediate").catch(() => {});
    },
  };
}
