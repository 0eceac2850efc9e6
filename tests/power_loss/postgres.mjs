// PostgreSQL with its data on a disk that loses power. Its settings are the usual ones, with less memory and shorter logs.
import { execFileSync, spawn } from "node:child_process";
import { createWriteStream, mkdtempSync, readFileSync, readdirSync, rmSync, chownSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../chain/nodes.mjs";
import { until } from "../x402/service.mjs";

/** Small, so that recovery is short and segments of the log are often renamed. */
const SETTINGS = { shared_buffers: "2MB", max_connections: 60, min_wal_size: "4MB", max_wal_size: "8MB", checkpoint_timeout: "30s", listen_addresses: "127.0.0.1" };
const READY = "database system is ready to accept connections";

/** PostgreSQL refuses to run as root. */
function user() {
  if (process.getuid() !== 0) return {};
  const [, , uid, gid] = readFileSync("/etc/passwd", "utf8").split("\n").find(line => line.startsWith("postgres:")).split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

/** A process and its children; those of PostgreSQL have no children. */
function family(parent) {
  const found = [parent];
  for (const name of readdirSync("/proc").filter(name => /^\d+$/.test(name))) {
    try {
      const [, , ppid] = readFileSync(`/proc/${name}/stat`, "utf8").replace(/^\d+ \(.*\)/s, "0").split(" ");
      if (Number(ppid) === parent) found.push(Number(name));
    } catch {
      // It has ended meanwhile.
    }
  }
  return found;
}

function isAlive(pid) {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^\d+ \(.*\)/s, "").startsWith(" Z");
  } catch {
    return false;
  }
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It may have ended by itself.
    if (error.code !== "ESRCH") throw error;
  }
}

/** Creates a database cluster on the disk. */
export async function createPostgres(programs, disk) {
  const owner = user();
  const outside = mkdtempSync(join(tmpdir(), "pennyblack-postgres-"));
  const data = join(disk.folder, "postgres");
  if (owner.uid !== undefined) {
    chownSync(outside, owner.uid, owner.gid);
    chownSync(disk.folder, owner.uid, owner.gid);
  }
  const options = ["-D", data, "-U", "pennyblack", "--auth=trust", "--encoding=UTF8", "--no-locale", "--data-checksums", "--wal-segsize=1"];
  execFileSync(join(programs, "initdb"), options, { ...owner, cwd: "/", stdio: ["ignore", "ignore", "inherit"] });
  const port = await freePort();
  const url = `postgres://pennyblack@127.0.0.1:${port}/postgres`;
  const log = createWriteStream(join(outside, "log"), { flags: "a" });
  const settings = Object.entries({ ...SETTINGS, unix_socket_directories: outside }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  let current = null;
  const postgres = {
    url,
    outside,
    /** Returns once it accepts connections; fails if it ends before. */
    async start() {
      const child = spawn(join(programs, "postgres"), ["-D", data, "-p", String(port), ...settings], { ...owner, cwd: "/", stdio: ["ignore", "ignore", "pipe"] });
      current = child;
      let output = "";
      child.stderr.on("data", text => {
        output += text;
        log.write(text);
      });
      await new Promise((resolve, reject) => {
        child.stderr.on("data", () => output.includes(READY) && resolve());
        child.once("exit", code => reject(new Error(`PostgreSQL ended with ${code}: ${output.slice(-2_000)}`)));
      });
    },
    /** SIGKILL for all of its processes, as when the power fails. */
    async kill() {
      if (!current || current.exitCode !== null || current.signalCode !== null) return;
      // It starts no more processes while we look for them.
      signal(current.pid, "SIGSTOP");
      const pids = family(current.pid);
      for (const pid of pids) signal(pid, "SIGKILL");
      await until("PostgreSQL has ended", () => !pids.some(isAlive));
    },
    query: statement => execFileSync("psql", [url, "--quiet", "--no-psqlrc", "--tuples-only", "--no-align", "--command", statement], { encoding: "utf8", maxBuffer: 1 << 28 }),
    remove: () => rmSync(outside, { recursive: true }),
  };
  return postgres;
}
