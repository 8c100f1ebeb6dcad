import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { descendantsOf, killQuietly, startOf } from "../test/support/process-tree.ts";
import { demandGoingOn } from "./interruption.ts";

/** How a running server was started: enough to start it again by hand. */
export interface Recipe {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Text of the file that --config names. */
  readonly config: string;
}

/** Reads the recipe from the process that the tool started, so that the peer gets the very same declaration. */
export function recipeOf(pid: number): Recipe {
  const argv = words(`/proc/${String(pid)}/cmdline`);
  const pairs = words(`/proc/${String(pid)}/environ`).map((word): [string, string] => {
    const at = word.indexOf("=");
    return [word.slice(0, at), word.slice(at + 1)];
  });
  const { PULUMI_VLLM_SERVER: _marker, ...environment } = Object.fromEntries(pairs);
  return { argv, environment, config: readFileSync(argv.at(-1) ?? "", "utf8") };
}

export interface BareStart {
  /** From spawn to the answer of a completion. */
  readonly startSeconds: number;
  /** From SIGTERM, as by hand, until nothing of it lives. */
  readonly stopSeconds: number;
}

/** `vllm serve MODEL --config F` by hand until a completion answers, then ended. */
export async function bareStart(recipe: Recipe, port: number, model: string): Promise<BareStart> {
  const folder = mkdtempSync(join(tmpdir(), "bare-"));
  const config = join(folder, "serve.yaml");
  writeFileSync(config, recipe.config);
  const [program = "", ...args] = recipe.argv;
  const begin = performance.now();
  const child = spawn(program, [...args.slice(0, -1), config], {
    env: { ...recipe.environment, TMPDIR: folder },
    stdio: "ignore",
    detached: true,
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    await answered(port, model, () => child.exitCode === null && child.signalCode === null);
    const startSeconds = (performance.now() - begin) / 1000;
    const all = descendantsOf(child.pid ?? 0).map((pid) => ({ pid, start: startOf(pid) }));
    const asked = performance.now();
    child.kill("SIGTERM");
    await ended;
    while (all.some(({ pid, start }) => start !== "" && startOf(pid) === start)) {
      demandGoingOn();
      await delay(20);
    }
    return { startSeconds, stopSeconds: (performance.now() - asked) / 1000 };
  } finally {
    child.kill("SIGTERM");
    await ended;
    // Its own group: what a leader that failed may have left.
    if (child.pid !== undefined) killQuietly(-child.pid);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits for a completion. Fails when the server does not live any more. */
export async function answered(
  port: number,
  model: string,
  lives: () => boolean = () => true,
): Promise<void> {
  while (!(await answers(port, model))) {
    demandGoingOn();
    if (!lives()) throw new Error("the server ended before it answered");
    await delay(20);
  }
}

/** The same request that the tool proves a server with. */
async function answers(port: number, model: string): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${String(port)}/v1/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model, prompt: [1], max_tokens: 1, temperature: 0 }),
    });
    await response.text();
    return response.ok;
  } catch {
    return false;
  }
}

function words(path: string): readonly string[] {
  return readFileSync(path, "utf8")
    .split("\0")
    .filter((word) => word !== "");
}
