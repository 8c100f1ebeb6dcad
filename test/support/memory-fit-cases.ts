import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Version } from "../../provider/src/core/kv-cache-situation";
import { memoryFit, type MemoryFit } from "../../provider/src/core/compatibility/memory-fit";
import { defaultUtilization } from "../../provider/src/core/compatibility/memory-reserve";

/** What public logs of vLLM told of a start, beside what is estimated for it. */
const caseSchema = z.object({
  /** Where the log stands. */
  source: z.string(),
  kind: z.string(),
  vllm: z.string(),
  config: z.record(z.string(), z.json()),
  /** null: not known, then weights are not compared. */
  weightBytes: z.number().nullable(),
  /** null: not told, then memory is not compared. */
  gpu: z.object({ name: z.string(), memoryTotalMib: z.number() }).nullable(),
  kvDtype: z.string(),
  engine: z.object({
    tensorParallelSize: z.number().default(1),
    gpuMemoryUtilization: z.number().optional(),
    maxModelLen: z.number().optional(),
    maxNumBatchedTokens: z.number().optional(),
    maxNumSeqs: z.number().optional(),
    /** What the log told for it: the number of tokens is compared for that memory, not for the estimated one. */
    kvCacheGib: z.number().optional(),
  }),
  told: z.object({
    weightGib: z.number().optional(),
    kvGib: z.number().optional(),
    kvTokens: z.number().optional(),
    kvBytesPerToken: z.number().optional(),
  }),
  note: z.string().optional(),
});
type MemoryFitCase = z.infer<typeof caseSchema>;

const FOLDER = join(import.meta.dirname, "../cases/memory-fit");
const GIB = 1024 ** 3;

export const QUANTITIES = ["weights", "KV bytes per token", "KV tokens", "KV memory"] as const;
export type Quantity = (typeof QUANTITIES)[number];

/** One quantity of one case; `error` is relative: of memory to the GPU's memory, of everything else to what was told. */
export interface Measured {
  readonly name: string;
  readonly quantity: Quantity;
  readonly estimated: number;
  readonly told: number;
  readonly error: number;
}

export function memoryFitCases(): readonly (readonly [string, MemoryFitCase])[] {
  return readdirSync(FOLDER)
    .sort()
    .map((file) => [
      file.replace(".json", ""),
      caseSchema.parse(JSON.parse(readFileSync(join(FOLDER, file), "utf8"))),
    ]);
}

/** Every quantity that a case told, beside its estimate. */
export function measured(name: string, one: MemoryFitCase): readonly Measured[] {
  const { told, gpu } = one;
  const weightsOnly = estimate(one, null);
  const memory = one.engine.kvCacheGib ?? told.kvGib;
  const ofTold = memory === undefined ? null : estimate(one, memory * GIB);
  const found: readonly (readonly [
    Quantity,
    number | null | undefined,
    number | undefined,
    number | null,
  ])[] = [
    ["weights", weightsOnly.weightBytesPerGpu, scaled(told.weightGib), null],
    ["KV bytes per token", weightsOnly.kvBytesPerToken, told.kvBytesPerToken, null],
    ["KV tokens", ofTold?.kvTokens, told.kvTokens, null],
    [
      "KV memory",
      gpu === null || one.weightBytes === null ? null : weightsOnly.kvMemoryBytes,
      scaled(told.kvGib),
      gpu === null ? null : gpu.memoryTotalMib * 1024 ** 2,
    ],
  ];
  return found.flatMap(([quantity, estimated, wanted, whole]) =>
    estimated === null || estimated === undefined || wanted === undefined
      ? []
      : [{ name, quantity, estimated, told: wanted, error: (estimated - wanted) / (whole ?? wanted) }],
  );
}

function estimate(one: MemoryFitCase, kvCacheBytes: number | null): MemoryFit {
  const { engine } = one;
  const version = versionOf(one.vllm);
  return memoryFit({
    configText: JSON.stringify(one.config),
    // Tokens do not depend on weights where the memory is given.
    weightBytes: one.weightBytes ?? (kvCacheBytes === null ? null : 0),
    dtypeBytes: 2,
    parallel: { tensor: engine.tensorParallelSize, pipeline: 1, data: 1, isExpertParallel: false },
    kvDtype: one.kvDtype,
    maxModelLen: engine.maxModelLen ?? null,
    utilization: engine.gpuMemoryUtilization ?? defaultUtilization(version),
    kvCacheBytes,
    gpus: [one.gpu ?? { name: "not told", memoryTotalMib: 81920 }],
    step: { tokens: engine.maxNumBatchedTokens ?? null, requests: engine.maxNumSeqs ?? null },
    isEager: false,
    version,
  });
}

function versionOf(text: string): Version {
  const [major = 0, minor = 0] = text.split(".").map(Number);
  return [major, minor];
}

function scaled(gib: number | undefined): number | undefined {
  return gib === undefined ? undefined : gib * GIB;
}
