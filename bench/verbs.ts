import { Buffer } from "node:buffer";
import { join } from "node:path";
import { KIMI_CONFIG, KIMI_HF_QUANT_CONFIG, writeCheckpoint } from "../test/support/checkpoints.ts";
import { gpuHost, type GpuHost } from "../test/support/gpu-host.ts";
import { freePort } from "../test/support/free-port.ts";
import { floorProgram, floorProject } from "./floor.ts";
import { load } from "./machine.ts";
import { inTurn, type Verb } from "./peers.ts";
import { table } from "./table.ts";

/** SSH connections and commands of each verb as sshd's log counts them; seconds beside those of one trivial resource. */
export async function measureVerbs(): Promise<string> {
  const bed = await gpuHost();
  const floor = await floorProject(1);
  try {
    const declare = await declaring(bed);
    const rows: string[][] = [];
    const measure = async (what: string, verb: Verb): Promise<void> => {
      const [connections, commands] = [bed.sshd.connectionCount(), bed.sshd.execCount()];
      const { floor: peer, own } = await inTurn(what, verb, { floor, own: bed.project });
      rows.push([
        what,
        String(bed.sshd.connectionCount() - connections),
        String(bed.sshd.execCount() - commands),
        own.wall.toFixed(2),
        peer.wall.toFixed(2),
        own.processor.toFixed(2),
        peer.processor.toFixed(2),
      ]);
    };
    await declare(131072);
    await measure("preview of a new server", (project) => project.preview());
    await measure("up, create", (project) => project.up());
    const sizes = await sizesOf(bed);
    await measure("up, nothing to do", (project) => project.up());
    await measure("preview, nothing to do", (project) => project.preview());
    await measure("refresh", (project) => project.refresh());
    await declare(65536);
    await floor.setProgram(floorProgram(1).replace('value: "1"', 'value: "2"'));
    await measure("preview of a restart", (project) => project.preview());
    await measure("up, restart", (project) => project.up());
    await measure("destroy", (project) => project.destroy());
    const head = ["verb", "connections", "commands", "seconds", "floor", "processor seconds", "floor"];
    return `### Verbs, one server, stand-in with 8 GPUs, start of 2 s (load ${load()})\n\n${table(head, rows)}\n\n### Sizes\n\n${sizes}`;
  } finally {
    await bed.close();
    await floor.destroy();
    await floor.remove();
  }
}

async function declaring(bed: GpuHost): Promise<(maxModelLen: number) => Promise<void>> {
  const port = await freePort("127.0.0.1");
  const checkpoint = writeCheckpoint(join(bed.folder, "Kimi-K2.5-NVFP4"), {
    "config.json": KIMI_CONFIG,
    "hf_quant_config.json": KIMI_HF_QUANT_CONFIG,
  });
  return (maxModelLen) =>
    bed.declare({
      kimi: {
        model: { path: checkpoint },
        kvCacheDtype: "bfloat16",
        vllm: { executable: bed.executable },
        engine: { tensorParallelSize: 8, maxModelLen, servedModelName: ["kimi"] },
        listen: { port },
        apiKey: "bench-api-key",
      },
    });
}

async function sizesOf(bed: GpuHost): Promise<string> {
  const [server] = await bed.project.servers();
  const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  const blob = server?.inputs?.["__provider"];
  const rows = [
    ["the server in state (inputs and outputs, secrets as ciphertext)", String(bytes(server)), "8192"],
    ["the provider's text in it, once (it is stored twice)", String(Buffer.byteLength(String(blob))), "2048"],
    ["inputs", String(bytes(server?.inputs)), ""],
    ["outputs", String(bytes(server?.outputs)), ""],
  ];
  return table(["what", "bytes", "limit"], rows);
}
