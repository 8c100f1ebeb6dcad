import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { makeBed, type Bed } from "./bed.ts";
import { TINY_LLAMA, writeCheckpoint } from "./checkpoints.ts";
import { freePort } from "./free-port.ts";
import { layOutStandIn } from "./stand-in.ts";

/** A host of one's own with the stand-in vLLM and eight stand-in GPUs. */
export interface GpuHost extends Bed {
  /** The stand-in's `vllm`. */
  readonly executable: string;
  /** Path of the stand-in's `nvidia-smi`. */
  readonly nvidiaSmi: string;
  /** MiB in use per GPU, in index order, as nvidia-smi tells. */
  gpuMemoryMib(): readonly number[];
  /** MiB an idle GPU shows. */
  readonly idleMib: number;
  /** Inputs of a small server with the checkpoint "tiny" and a free port; it starts within 2 s, or within `startSeconds`. */
  tinyServer(startSeconds?: number): Promise<Readonly<Record<string, unknown>>>;
  /** Puts the stand-ins on the PATH of a login, where a person has vllm and nvidia-smi. */
  offerByLogin(): void;
  /** Folders of servers in the tool's state on the host. */
  serverFolders(): readonly string[];
}

export async function gpuHost(options: { readonly version?: string } = {}): Promise<GpuHost> {
  const standInFolder = realpathSync(mkdtempSync(join(tmpdir(), "stand-in-")));
  const { executable, nvidiaSmiFolder } = layOutStandIn(standInFolder, options);
  const bed = await makeBed({ path: `${nvidiaSmiFolder}:/usr/bin:/bin` });
  const nvidiaSmi = join(nvidiaSmiFolder, "nvidia-smi");
  const gpuMemoryMib = (): readonly number[] => {
    const words = ["--query-gpu=memory.used", "--format=csv,noheader,nounits"];
    return execFileSync(nvidiaSmi, words, { encoding: "utf8" }).trim().split("\n").map(Number);
  };
  const state = join(bed.home, ".local/state/pulumi-vllm");
  mkdirSync(state, { recursive: true });
  return {
    ...bed,
    executable,
    nvidiaSmi,
    gpuMemoryMib,
    idleMib: gpuMemoryMib()[0] ?? 0,
    tinyServer: async (startSeconds) => ({
      model: { path: writeCheckpoint(join(bed.folder, "tiny"), { "config.json": TINY_LLAMA }) },
      vllm: { executable },
      listen: { port: await freePort("127.0.0.1") },
      ...(startSeconds === undefined
        ? {}
        : { environment: { STAND_IN_START_SECONDS: String(startSeconds) } }),
    }),
    offerByLogin: () => {
      const folders = [dirname(executable), nvidiaSmiFolder, "/usr/bin", "/bin"];
      writeFileSync(join(bed.home, ".profile"), `PATH="${folders.join(":")}"\n`);
    },
    serverFolders: () => readdirSync(state).filter((name) => /-[0-9a-f]{8}$/.test(name)),
    close: async () => {
      try {
        await bed.close();
      } finally {
        rmSync(standInFolder, { recursive: true, force: true });
      }
    },
  };
}
