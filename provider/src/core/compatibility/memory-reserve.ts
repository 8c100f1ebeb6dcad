import { isBefore, type Version } from "../kv-cache-situation";
import type { ModelFacts } from "./model-facts";

/** What vLLM keeps free beside weights and KV cache. */

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;

/** What nvidia-smi counts as memory of a GPU and CUDA does not give out. Source: measured, docs/memory-fit.md. */
const DRIVER_BYTES = 500 * MIB;
/** CUDA context, cuBLAS, kernels. Source: measured, docs/memory-fit.md. */
const CONTEXT_BYTES = 0.3 * GIB;
/** Buffers of NCCL and of vLLM's own all-reduce. Source: measured, docs/memory-fit.md. */
const COMMUNICATION_BYTES = 0.7 * GIB;
/** What graphs of a decode step take. Source: measured, docs/memory-fit.md. */
const GRAPH_BYTES = 0.3 * GIB;
/** A logit in float32, sorted with its index, made into a probability and summed up. Source: vLLM 0.32.0 v1/sample/ops/topk_topp_sampler.py; measured. */
const LOGIT_BYTES = 24;
/** The largest image or video that is tried. Source: measured, docs/memory-fit.md. */
const ENCODER_BYTES = 0.5 * GIB;
/** The first version that may count graphs in. Source: VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS of vLLM 0.18.0 (off) and 0.20.0 (on) envs.py. */
const COUNTS_GRAPHS: Version = [0, 19];

export interface GpuMemory {
  readonly memoryTotalMib: number;
  readonly name: string;
}

/** The part of each GPU that vLLM takes where none is given. Source: gpu_memory_utilization of vLLM 0.18.0 and 0.20.0 config/cache.py. */
export function defaultUtilization(version: Version | null): number {
  return isBefore(version, COUNTS_GRAPHS) ? 0.9 : 0.92;
}

/** Memory that vLLM takes for itself on a GPU. */
export function budgetBytes(gpu: GpuMemory, utilization: number): number {
  return (gpu.memoryTotalMib * MIB - DRIVER_BYTES) * utilization;
}

/** Tokens and requests of one step, where none are given. Source: vLLM 0.32.0 engine/arg_utils.py _set_default_max_num_seqs_and_batched_tokens_args. */
export function defaultStep(gpu: GpuMemory): { readonly tokens: number; readonly requests: number } {
  if (gpu.memoryTotalMib >= 160 * 1024) return { tokens: 16384, requests: 1024 };
  if (gpu.memoryTotalMib >= 70 * 1024 && !/a100/i.test(gpu.name)) return { tokens: 8192, requests: 1024 };
  return { tokens: 2048, requests: 256 };
}

export interface StepSize {
  readonly tokens: number;
  readonly requests: number;
}

/** Everything but weights and KV cache, for one GPU: what a step of the largest size needs on top of it. */
export function reserveBytes(
  model: ModelFacts,
  step: StepSize,
  world: { readonly tensor: number; readonly size: number },
  version: Version | null,
  isEager: boolean,
): number {
  const hidden = model.hiddenSize ?? 4096;
  const wide = (model.intermediateSize ?? 4 * hidden) / world.tensor;
  const activations = step.tokens * (3 * hidden + 3 * wide) * 2;
  const logits = Math.min(step.requests, step.tokens) * (model.vocabSize ?? 0) * LOGIT_BYTES;
  const encoder = model.isMultimodal ? ENCODER_BYTES : 0;
  const graphs = isEager || version === null || isBefore(version, COUNTS_GRAPHS) ? 0 : GRAPH_BYTES;
  const communication = world.size > 1 ? COMMUNICATION_BYTES : 0;
  return CONTEXT_BYTES + communication + Math.max(activations, logits) + graphs + encoder;
}
