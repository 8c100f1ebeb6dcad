import { z } from "zod";
import { runDriver } from "./vllm-driver";

/** What vLLM is asked: a checkpoint and what stands on the command line. */
export interface KvCacheQuestion {
  readonly files: Readonly<Record<string, string>>;
  /** --kv-cache-dtype; null: not given. */
  readonly flag: string | null;
  /** --dtype; null: not given. */
  readonly dtype: string | null;
  /** Compute capability of the CUDA device the hooks of architectures answer for; null: none. */
  readonly capability: readonly number[] | null;
}

const answersSchema = z.array(
  z.object({
    /** KV-cache dtype that vLLM settles on; "auto": the model's own. null: it refuses. */
    resolves: z.string().nullable(),
    error: z.string().nullable(),
    /** Where it refused: its configuration, the architecture's hook, the attention layer. */
    stage: z.enum(["config", "hook", "layer"]).nullable(),
    quantization: z.string().nullable(),
    modelDtype: z.string().nullable(),
    /** Of sparse attention: what a backend or layout stores; null: it refuses. */
    backends: z.record(z.string(), z.string().nullable()),
  }),
);
export type KvCacheAnswer = z.infer<typeof answersSchema>[number];

/** Asks the real vLLM all questions in one process: 15 s, and a third of a second for each. */
export function askJudge(questions: readonly KvCacheQuestion[]): readonly KvCacheAnswer[] {
  return answersSchema.parse(runDriver("kv_cache_driver.py", questions));
}
