import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { say } from "./processes.mjs";

/**
 * Runs work while no other run of ours holds the same lock file; a lock whose owner died is taken over.
 * It saves double work, it is not what keeps results whole: between two runs that find the same dead owner there is
 * a small race, so work must still look again whether it is needed and put its result in place in one move.
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(path, work) {
  await mkdir(dirname(path), { recursive: true }).catch((/** @type {unknown} */ error) => {
    const found = error instanceof Error ? error.message : String(error);
    throw new Error(
      `Cannot make ${dirname(path)}: ${found}. PULUMI_VLLM_CACHE names another folder for what is set up`,
    );
  });
  await take(path);
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/**
 * Removes what cut runs left of a result that is made aside. To be called under the lock.
 * @param {string} prefix path up to what differs between runs
 */
export async function removeLeftovers(prefix) {
  for (const name of await readdir(dirname(prefix))) {
    if (name.startsWith(basename(prefix)))
      await rm(join(dirname(prefix), name), { recursive: true, force: true });
  }
}

/** @param {string} path */
async function take(path) {
  const self = `${String(process.pid)} ${await startOf(process.pid)}`;
  for (let waitedSeconds = 0; ; waitedSeconds += 1) {
    try {
      await writeFile(path, self, { flag: "wx" });
      return;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    const [pid = "", start = ""] = (await readFile(path, "utf8").catch(() => "")).split(" ");
    // An empty file is one that is just being written, unless it stays empty.
    const isDead = pid === "" ? waitedSeconds > 5 : (await startOf(Number(pid))) !== start;
    if (isDead) await rm(path, { force: true });
    else {
      if (waitedSeconds % 30 === 1) say(`waiting for process ${pid}, which does the same work (${path})`);
      await delay(1000);
    }
  }
}

/**
 * Start time of a process, so that a reused pid is not taken for the old owner.
 * @param {number} pid
 * @returns {Promise<string>} "" when there is no such process; "alive" where there is no /proc
 */
async function startOf(pid) {
  if (existsSync("/proc/self/stat")) {
    const stat = await readFile(`/proc/${String(pid)}/stat`, "utf8").catch(() => "");
    // Fields are counted behind the command, which may hold blanks. Source: proc(5), field 22.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  }
  try {
    process.kill(pid, 0);
    return "alive";
  } catch {
    return "";
  }
}
