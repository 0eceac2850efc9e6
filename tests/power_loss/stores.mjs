// The two stores on a disk that loses power: how each is started, read and killed.
import { copyFileSync, cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { readCopy, readPostgres, readSqlite } from "./check.mjs";
import { mountDisk } from "./disk.mjs";
import { createPostgres } from "./postgres.mjs";

/** SQLite promises to need no more than POSIX requires; PostgreSQL relies on file systems that keep the name of a synced file. */
const NAMES = { sqlite: "folder", postgres: "file" };

/** A disk with a store on it. `environment` points the service to it. */
export async function createStore(kind, programs, seed) {
  const disk = await mountDisk(programs.disk, seed, NAMES[kind]);
  const keep = folder => existsSync(disk.folder) && cpSync(disk.folder, folder, { recursive: true, filter: path => !path.endsWith(".socket") && !path.endsWith(".sock") });
  const remove = () => disk.unmount();
  if (kind === "sqlite") {
    const data = join(disk.folder, "data");
    const file = join(data, "pennyblack.sqlite3");
    return { kind, disk, keep, remove, environment: { PENNYBLACK_DATA: data }, start: async () => {}, kill: async () => {}, readStopped: () => readCopy(file), readRunning: () => readSqlite(file) };
  }
  const postgres = await createPostgres(programs.postgres, disk);
  const read = () => readPostgres(postgres);
  return {
    kind,
    disk,
    keep(folder) {
      keep(folder);
      copyFileSync(join(postgres.outside, "log"), join(folder, "log"));
    },
    environment: { PENNYBLACK_STORE: postgres.url },
    start: postgres.start,
    kill: postgres.kill,
    readRunning: read,
    async remove() {
      await postgres.kill();
      await disk.unmount();
      postgres.remove();
    },
  };
}
