import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ensureUv } from "../scripts/setup-uv.mjs";
import { startPackageIndex } from "../test/support/package-index.ts";
import { agentHost, type AgentHost } from "./agent-host.ts";
import { load } from "./machine.ts";
import { runProgram } from "./run-program.ts";
import { median, spread } from "./statistics.ts";
import { table, times } from "./table.ts";

export interface InstallSize {
  /** Of the large parts of vLLM and PyTorch together. */
  readonly megabytes: number;
  readonly repetitions: number;
}

const GOAL = 1.05;
const VERSION = "0.32.0";
/** As the environment of vLLM 0.32.0, CPU build: 169 packages, 58000 files. */
const PACKAGES = 160;
const FILES = 360;
const FILE_BYTES = 10_000;
const PYTHON = ">=3.10";

/**
 * The step that builds an environment, in turn with `uv venv` and `uv pip install` of the same packages from the same index and cache, by the
 * same uv. The step also runs what it has installed, and ends when all of it is on the disk.
 * @returns Markdown
 */
export async function measureInstall(size: InstallSize): Promise<string> {
  const fillers = Array.from({ length: PACKAGES }, (_none, index) => `filler-${String(index)}`);
  const half = { paddingBytes: size.megabytes * 500_000 };
  const index = await startPackageIndex({
    packages: [
      { kind: "vllm", version: VERSION, requires: ["torch", ...fillers], ...half },
      { kind: "torch", ...half },
      ...fillers.map((name) => ({
        kind: "empty",
        name,
        version: "1.0",
        files: FILES,
        fileBytes: FILE_BYTES,
      })),
    ],
  });
  const uv = await ensureUv();
  const login = { UV_CACHE_DIR: join("$HOME", "uv-cache"), UV_PYTHON_DOWNLOADS: "never" };
  const host = agentHost([uv], login);
  try {
    return await measured(size, host, { uv, index: index.url });
  } finally {
    host.remove();
    await index.close();
  }
}

interface Places {
  readonly uv: string;
  readonly index: string;
}

interface Turn {
  readonly step: number;
  readonly bare: number;
  /** `vllm --version` in the bare one. */
  readonly looked: number;
  /** Until all of the bare one is on the disk. */
  readonly flushed: number;
}

async function measured(size: InstallSize, host: AgentHost, places: Places): Promise<string> {
  const loadBefore = load();
  const rows: string[][] = [];
  const told: string[] = [];
  for (const isWarm of [false, true]) {
    const turns: Turn[] = [];
    if (isWarm) await bare(host, places);
    for (let turn = 0; turn < size.repetitions; turn += 1) {
      // Who comes second finds less in the caches of the machine, or more.
      const ways = turn % 2 === 0 ? [step, bare] : [bare, step];
      let found: Turn = { step: NaN, bare: NaN, looked: NaN, flushed: NaN };
      for (const way of ways) {
        if (!isWarm) rmSync(cacheOf(host), { recursive: true, force: true });
        flush(host);
        found = { ...found, ...(await way(host, places)) };
      }
      console.error(`${isWarm ? "warm" : "cold"} (${String(turn + 1)}): ${JSON.stringify(found)}`);
      turns.push(found);
    }
    const cache = isWarm ? "full" : "empty";
    const of = (value: (turn: Turn) => number): readonly number[] => turns.map(value);
    const peers = [
      of((turn) => turn.bare),
      of((turn) => turn.bare + turn.looked),
      of((turn) => turn.bare + turn.looked + turn.flushed),
    ] as const;
    const ratios = peers.map((peer) => times(median(of((turn) => turn.step)) / median(peer)));
    rows.push(
      [cache, "the step", spread(of((turn) => turn.step)), ""],
      ...["`uv venv` and `uv pip install`", "… and `vllm --version`", "… and all of it on the disk"].map(
        (what, at) => [cache, what, spread(peers[at] ?? []), ratios[at] ?? ""],
      ),
    );
    told.push(`${cache} cache: ${ratios.join(", ")}`);
  }
  const what = `${String(PACKAGES + 2)} packages, ${String(PACKAGES * FILES)} files, ${((size.megabytes * 1e6 + PACKAGES * FILES * FILE_BYTES) / 1e9).toFixed(1)} GB`;
  return [
    `### Install: ${what}, ${String(size.repetitions)} of each in turn (load ${loadBefore} before, ${load()} after)`,
    table(["cache", "what", "seconds: median (least-most)", "the step takes"], rows),
    `Of uv's time alone, with the look at it, and with what the step waits for as well (goal ${times(GOAL)}): ${told.join("; ")}.`,
  ].join("\n\n");
}

async function step(host: AgentHost, { index }: Places): Promise<Partial<Turn>> {
  const name = randomBytes(8).toString("hex");
  const environment = { name, version: VERSION, packages: [], indexUrl: index, extraIndexUrls: [] };
  const { result, stepSeconds } = await host.apply({
    kind: "install",
    environment: { ...environment, python: null, torchBackend: null },
    timeoutSeconds: 3600,
  });
  if (result.kind !== "install" || !result.install.built) throw new Error("nothing was installed");
  demandWhole(host, join(host.home, ".local/state/pulumi-vllm/environments", name));
  return { step: stepSeconds };
}

async function bare(host: AgentHost, { uv, index }: Places): Promise<Partial<Turn>> {
  const folder = join(host.home, "bare");
  const env = {
    HOME: host.home,
    PATH: "/usr/bin:/bin",
    UV_CACHE_DIR: cacheOf(host),
    UV_PYTHON_DOWNLOADS: "never",
  };
  const made = await runProgram([uv, "venv", "--quiet", "--no-project", "--python", PYTHON, folder], env);
  const target = ["--python", join(folder, "bin", "python"), "--default-index", index];
  const filled = await runProgram([uv, "pip", "install", "--quiet", ...target, `vllm==${VERSION}`], env);
  const looked = await runProgram([join(folder, "bin", "vllm"), "--version"], env);
  const flushed = flush(host);
  demandWhole(host, folder);
  return { bare: made.wall + filled.wall, looked: looked.wall, flushed };
}

/** Seconds until what was written is on the disk. */
function flush(host: AgentHost): number {
  const began = performance.now();
  execFileSync("sync", ["--file-system", host.home]);
  return (performance.now() - began) / 1000;
}

const cacheOf = (host: AgentHost): string => join(host.home, "uv-cache");

/** It was installed, and it is gone. */
function demandWhole(host: AgentHost, folder: string): void {
  const count = execFileSync("sh", ["-c", 'find "$1" -name "part_*.py" | wc -l', "sh", folder], {
    encoding: "utf8",
    cwd: host.home,
  });
  if (Number(count) !== PACKAGES * FILES) throw new Error(`${folder} holds ${count.trim()} files`);
  rmSync(folder, { recursive: true });
}
