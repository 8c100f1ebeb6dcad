import type { Version } from "../kv-cache-situation";
import { kvLayoutOf, longestRequest, requestBytes } from "./kv-layout";
import { budgetBytes, defaultStep, type GpuMemory, reserveBytes, type StepSize } from "./memory-reserve";
import { modelFactsOf } from "./model-facts";
import type { ParallelSizes } from "./situation";
import { isWiderThanLoaded, weightShare } from "./weight-share";

export interface MemoryQuestion {
  /** config.json as vLLM reads it. */
  readonly configText: string | null;
  /** Bytes of the weight files that vLLM loads; null: not known. */
  readonly weightBytes: number | null;
  /** Bytes of an element of the model's dtype: 2, or 4. */
  readonly dtypeBytes: number;
  readonly parallel: ParallelSizes;
  /** As an attention layer takes it, "auto" for the model's own dtype; null: not known. */
  readonly kvDtype: string | null;
  /** Tokens; null: what the model says. "auto": as many as fit. */
  readonly maxModelLen: number | "auto" | null;
  /** Fraction of each GPU's memory. */
  readonly utilization: number;
  /** Bytes of KV cache for each GPU, where they are given instead; null: what is left over. */
  readonly kvCacheBytes: number | null;
  /** GPUs that it may run on; [] or memory of 0: not known. */
  readonly gpus: readonly GpuMemory[];
  /** Tokens and requests of one step, where they are given. */
  readonly step: { readonly tokens: number | null; readonly requests: number | null };
  readonly isEager: boolean;
  readonly version: Version | null;
}

/** An estimate: how far it is off is measured in docs/memory-fit.md. null: a fact it needs is not known. */
export interface MemoryFit {
  readonly weightBytesPerGpu: number | null;
  /** In the layers that keep all tokens, on one GPU. */
  readonly kvBytesPerToken: number | null;
  /** Left for the KV cache on one GPU; below 0: the weights do not leave any. */
  readonly kvMemoryBytes: number | null;
  /** As vLLM reports it: the number of longest requests at once, times their length. */
  readonly kvTokens: number | null;
  /** Of what is asked for, or of the model. */
  readonly maxModelLen: number | null;
  readonly largestMaxModelLen: number | null;
  /** impossible: the weights alone are a tenth more than all that vLLM may use. unlikely: the longest request does not fit. */
  readonly verdict: "impossible" | "unlikely" | "fits" | "unknown";
}

/** By how much weights must be over all memory before it is certain that they do not fit. */
const CERTAIN = 1.1;

const UNKNOWN: MemoryFit = {
  weightBytesPerGpu: null,
  kvBytesPerToken: null,
  kvMemoryBytes: null,
  kvTokens: null,
  maxModelLen: null,
  largestMaxModelLen: null,
  verdict: "unknown",
};

/** Whether weights and the longest request fit on the smallest of the GPUs. */
export function memoryFit(question: MemoryQuestion): MemoryFit {
  const { weightBytes, parallel, kvDtype, utilization } = question;
  const model = modelFactsOf(question.configText);
  const gpu = smallest(question.gpus);
  if (model === null) return UNKNOWN;
  const { tensor, pipeline } = parallel;
  const layout =
    kvDtype === null
      ? null
      : kvLayoutOf(model, { kvDtype, dtypeBytes: question.dtypeBytes, tensor, pipeline });
  const isWide = weightBytes !== null && isWiderThanLoaded(model, weightBytes);
  const weights = weightBytes === null || isWide ? null : weightShare(model, weightBytes, parallel);
  const known = {
    ...UNKNOWN,
    weightBytesPerGpu: weights,
    kvBytesPerToken: layout?.bytesPerToken ?? null,
    maxModelLen: question.maxModelLen === "auto" ? null : (question.maxModelLen ?? model.maxPositions),
  };
  if (gpu === null || weights === null) return known;
  const budget = budgetBytes(gpu, utilization);
  if (weights > CERTAIN * budget) return { ...known, verdict: "impossible" };
  const step: StepSize = {
    tokens: question.step.tokens ?? defaultStep(gpu).tokens,
    requests: question.step.requests ?? defaultStep(gpu).requests,
  };
  const world = { tensor, size: tensor * pipeline };
  const reserve = reserveBytes(model, step, world, question.version, question.isEager);
  const kvMemoryBytes = question.kvCacheBytes ?? budget - weights - reserve;
  if (layout === null) return { ...known, kvMemoryBytes };
  const largestMaxModelLen = longestRequest(layout, kvMemoryBytes, step.tokens);
  const length = known.maxModelLen;
  const fits =
    length === null ? kvMemoryBytes > 0 : largestMaxModelLen === null || length <= largestMaxModelLen;
  return {
    ...known,
    kvMemoryBytes,
    kvTokens:
      length === null
        ? largestMaxModelLen
        : Math.max(0, Math.floor((kvMemoryBytes / requestBytes(layout, length, step.tokens)) * length)),
    largestMaxModelLen,
    verdict: fits ? "fits" : "unlikely",
  };
}

function smallest(gpus: readonly GpuMemory[]): GpuMemory | null {
  const [first, ...rest] = gpus;
  // 0: memory that is the machine's own.
  if (first === undefined || gpus.some(({ memoryTotalMib }) => memoryTotalMib <= 0)) return null;
  return rest.reduce((least, gpu) => (gpu.memoryTotalMib < least.memoryTotalMib ? gpu : least), first);
}
