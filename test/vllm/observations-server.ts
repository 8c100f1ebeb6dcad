import { spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { killQuietly } from "../support/process-tree";
import { freePort } from "../support/free-port";
import { mappedShm, sessionOf } from "./observations-proc";

/** A vLLM to look at: the real one or the stand-in. */
export interface Subject {
  readonly executable: string;
  /** Beside what every start gets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Longest a start or a stop may take. */
  readonly patienceSeconds: number;
}

export interface StartOptions {
  readonly model: string;
  /** Text of the YAML file; its `host` and `port` are added. */
  readonly config: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Keeps the stand-in from loading until release(); the real one takes its time anyway. */
  readonly isHeld?: boolean;
  /** Default: one that is free. */
  readonly port?: number;
}

/** One `vllm serve MODEL --config FILE` in a session and a TMPDIR of its own. */
export interface Server {
  readonly pid: number;
  readonly port: number;
  /** TMPDIR. */
  readonly temporary: string;
  log(): string;
  /** Waits until the log matches, fails when the process ends before. */
  logged(pattern: RegExp): Promise<void>;
  /** Waits until /health answers 200. */
  ready(): Promise<void>;
  readonly exited: Promise<Exit>;
  release(): void;
  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void>;
  /** Kills what is left of the session, removes the files. */
  discard(): Promise<void>;
}

export type Exit = { readonly code: number | null; readonly signal: string | null };

const COMMON_ENVIRONMENT = {
  NO_COLOR: "1",
  VLLM_NO_USAGE_STATS: "1",
  HF_HUB_OFFLINE: "1",
  VLLM_CPU_KVCACHE_SPACE: "1",
  VLLM_CPU_OMP_THREADS_BIND: "nobind",
};

export async function startServer(subject: Subject, options: StartOptions): Promise<Server> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "contract-")));
  const temporary = join(folder, "tmp");
  mkdirSync(temporary);
  const port = options.port ?? (await freePort("127.0.0.1"));
  const [file, logFile, hold] = [join(folder, "serve.yaml"), join(folder, "log"), join(folder, "hold")];
  if (options.isHeld === true) writeFileSync(hold, "");
  writeFileSync(file, `${options.config}host: "127.0.0.1"\nport: ${port}\n`);
  const output = openSync(logFile, "a");
  const child = spawn(subject.executable, ["serve", options.model, "--config", file], {
    // An own session, as the supervisor gives it.
    detached: true,
    stdio: ["ignore", output, output],
    env: {
      PATH: process.env["PATH"] ?? "/usr/bin:/bin",
      HOME: process.env["HOME"] ?? "/",
      TMPDIR: temporary,
      ...COMMON_ENVIRONMENT,
      STAND_IN_HOLD: hold,
      ...subject.environment,
      ...options.environment,
    },
  });
  closeSync(output);
  const { pid } = child;
  if (pid === undefined) throw new Error(`cannot start ${subject.executable}`);
  let exit: Exit | null = null;
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      exit = { code, signal };
      resolve(exit);
    });
  });
  const log = (): string => readFileSync(logFile, "utf8");
  const until = async (what: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
    const deadline = Date.now() + subject.patienceSeconds * 1000;
    while (!(await holds())) {
      if (Date.now() > deadline)
        throw new Error(`waited ${subject.patienceSeconds} s for: ${what}\n${log().slice(-4000)}`);
      await pause(20);
    }
  };
  const untilAlive = (what: string, holds: () => boolean | Promise<boolean>): Promise<void> =>
    until(what, async () => {
      if (await holds()) return true;
      if (exit !== null)
        throw new Error(`ended with ${JSON.stringify(exit)} before: ${what}\n${log().slice(-4000)}`);
      return false;
    });
  return {
    pid,
    port,
    temporary,
    log,
    exited,
    release: () => {
      rmSync(hold, { force: true });
    },
    until,
    logged: (pattern) => untilAlive(String(pattern), () => pattern.test(log())),
    ready: () => untilAlive("/health", () => isHealthy(port)),
    discard: async () => {
      // Nobody unlinks it once the resource tracker is killed too.
      const shm = sessionOf(pid).flatMap((seen) => mappedShm(seen.pid));
      for (const seen of sessionOf(pid)) killQuietly(seen.pid);
      await exited;
      await until("end of the session", () => sessionOf(pid).length === 0);
      for (const name of shm) rmSync(join("/dev/shm", name), { force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function isHealthy(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health`)).status === 200;
  } catch {
    return false;
  }
}

/** Whether a plain bind sees the address as taken. Node's own bind sets SO_REUSEADDR, which a socket that does not listen allows. */
export function isBound(port: number): boolean {
  const program = `import socket; socket.socket().bind(("127.0.0.1", ${port}))`;
  return spawnSync("python3", ["-c", program], { stdio: "ignore" }).status !== 0;
}
