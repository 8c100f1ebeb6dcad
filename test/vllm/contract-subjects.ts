import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FP8_KV_CACHE, TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";

/** A checkpoint as both are given it, and the same one with the incident's request for an FP8 KV cache. */
export interface Models {
  readonly plain: string;
  readonly fp8: string;
  remove(): void;
}

export function makeModels(): Models {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "contract-models-")));
  return {
    plain: writeCheckpoint(join(folder, "tiny"), { "config.json": TINY_LLAMA }),
    fp8: writeCheckpoint(join(folder, "tiny-fp8"), {
      "config.json": { ...TINY_LLAMA, quantization_config: FP8_KV_CACHE },
    }),
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What was seen of the real vLLM 0.32.0 (CPU build); `npm run test:vllm` proves it again. */
export function recorded(observation: string): unknown {
  const text = readFileSync(join(import.meta.dirname, "contract-032.json"), "utf8");
  return (JSON.parse(text) as Readonly<Record<string, unknown>>)[observation];
}
