import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { KIMI_CONFIG, KIMI_HF_QUANT_CONFIG, writeCheckpoint } from "./checkpoints.ts";
import { eventually } from "./eventually.ts";
import { gpuHost, type GpuHost } from "./gpu-host.ts";
import type { PulumiResult } from "./pulumi-cli.ts";
import { freePort } from "./free-port.ts";

/** The incident's machine for the demo: the eight-GPU host of the tests, with Pulumi's output passed through as it comes. */
export class DemoHost {
  readonly idleMib: number;
  readonly #bed: GpuHost;
  readonly #checkpoint: string;
  readonly #port: number;

  private constructor(bed: GpuHost, port: number) {
    this.#bed = bed;
    this.#port = port;
    this.idleMib = bed.idleMib;
    this.#checkpoint = writeCheckpoint(join(bed.folder, "Kimi-K2.5-NVFP4"), {
      "config.json": KIMI_CONFIG,
      "hf_quant_config.json": KIMI_HF_QUANT_CONFIG,
    });
  }

  static async create(): Promise<DemoHost> {
    return new DemoHost(await gpuHost(), await freePort("127.0.0.1"));
  }

  /** Declares the server `kimi`; the rest of it is what the incident's owner wanted to run. */
  declare(inputs: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#bed.declare({
      kimi: {
        model: { path: this.#checkpoint },
        vllm: { executable: this.#bed.executable },
        engine: { tensorParallelSize: 8, maxModelLen: 131072, servedModelName: ["kimi"] },
        listen: { port: this.#port },
        // Off, so that the crash of the story stays to be seen.
        service: { restart: { max: 0 } },
        ...inputs,
      },
    });
  }

  pulumi(verb: string, args: readonly string[] = []): Promise<PulumiResult> {
    process.stdout.write(`$ pulumi ${[verb, ...args].join(" ")}\n`);
    const { output, result } = this.#bed.project.start(verb, args);
    output.on("data", (chunk: Buffer) => process.stdout.write(chunk));
    return result;
  }

  async outputs(): Promise<Readonly<Record<string, unknown>>> {
    return (await this.#bed.project.servers())[0]?.outputs ?? {};
  }

  async complete(): Promise<Readonly<Record<string, unknown>>> {
    const response = await fetch(`http://127.0.0.1:${String(this.#port)}/v1/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "kimi", prompt: "The capital of France is", max_tokens: 8 }),
    });
    const answer: Readonly<Record<string, unknown>> = JSON.parse(await response.text());
    return answer;
  }

  gpuMemoryMib(): readonly number[] {
    return this.#bed.gpuMemoryMib();
  }

  areGpusIdle(): boolean {
    return this.#bed.gpuMemoryMib().every((mib) => mib === this.idleMib);
  }

  gpuTable(): string {
    const query = ["--query-gpu=index,uuid,memory.used,memory.total", "--format=csv"];
    return execFileSync(this.#bed.nvidiaSmi, query, { encoding: "utf8" }).trimEnd();
  }

  /** Parent of a server's API process. */
  supervisorOf(pid: number): number {
    const found = this.#bed.processes().find((process) => process.pid === pid);
    if (found === undefined) throw new Error(`no process ${String(pid)} on the host`);
    return found.parent;
  }

  async isGone(pid: number): Promise<void> {
    const ask = (): true | null =>
      this.#bed.processes().some((process) => process.pid === pid) ? null : true;
    await eventually(`process ${String(pid)} is gone`, ask);
  }

  processCount(): number {
    return this.#bed.processes().length;
  }

  /** API servers, which is what a second server would be seen by. */
  serverCount(): number {
    return this.#bed.processes().filter(({ command }) => / serve /.test(command)).length;
  }

  sharedMemory(): readonly string[] {
    return this.#bed.sharedMemory();
  }

  connectionCount(): number {
    return this.#bed.sshd.connectionCount();
  }

  close(): Promise<void> {
    return this.#bed.close();
  }
}
