import { patchCheckpoint } from "../config-patch";
import { givenFlags } from "../given-flags";
import { kvCacheWishOf } from "../kv-cache-wish";
import { situationOf, type Version } from "../kv-cache-situation";
import type { JsonValue } from "../json";
import { dtypeOfArgument } from "../model-config";
import type { GpuSeen, Observed } from "../observed";
import type { Spec } from "../spec";
import { kvDtypeOf } from "./gpu-rules";
import type { MemoryQuestion } from "./memory-fit";
import { defaultUtilization } from "./memory-reserve";
import { modelFactsOf } from "./model-facts";
import type { ParallelSizes, Situation } from "./situation";

/** Everything that the tables and the estimate need, of what was declared and what was seen; null: vLLM or the checkpoint is not there yet. */
export interface StartFacts {
  readonly situation: Situation;
  readonly memory: MemoryQuestion;
}

/** Flags behind which the config that vLLM reads is another one than was judged, or weights lie elsewhere. */
const HIDDEN_BY_FLAGS = [
  "hf-overrides",
  "hf-config-path",
  "nnodes",
  "data-parallel-address",
  "data-parallel-size-local",
];
/** Flags that change what is kept in GPU memory in a way that is not computed here. */
const MEMORY_FLAGS = [
  "cpu-offload-gb",
  "speculative-config",
  "kv-transfer-config",
  "offload-backend",
  "enable-lora",
];
/** Flags that change how the KV cache is laid out over GPUs or layers. */
const LAYOUT_FLAGS = [
  "decode-context-parallel-size",
  "prefill-context-parallel-size",
  "disable-hybrid-kv-cache-manager",
];
/** Weight formats whose bytes on disk are those on the GPU. */
const PLAIN_FORMATS: readonly JsonValue[] = [
  "auto",
  "safetensors",
  "fastsafetensors",
  "runai_streamer",
  "instanttensor",
];

export function startFactsOf(spec: Spec, observed: Observed): StartFacts | null {
  const { executable, checkpoint } = observed;
  if (executable?.found !== true || checkpoint?.found !== true) return null;
  const patch = patchCheckpoint({
    files: checkpoint.files,
    kvCacheDtype: spec.kvCacheDtype,
    quantizationConfigOverrides: spec.quantizationConfigOverrides,
    configOverrides: spec.configOverrides,
  });
  if (patch.kind !== "patched") return null;
  const files = { ...checkpoint.files, ...patch.files };
  const configText = files["config.json"] ?? null;
  const flags = new Map(givenFlags(spec).map(({ flag, value }) => [flag, value] as const));
  const isCpu = executable.version?.includes("+cpu") === true;
  const gpus = isCpu ? [] : gpusFor(spec, observed);
  const kv = situationOf(kvCacheWishOf(spec, files, executable.version, gpus));
  const capabilities = kv.capabilities.length === gpus.length && gpus.length > 0 ? kv.capabilities : null;
  const situation: Situation = {
    kv,
    newestVersion: newestVersionOf(executable.version, kv.version),
    model: modelFactsOf(configText),
    gpus: capabilities,
    isOnEachGpu: isOnEachGpu(spec, gpus),
    parallel: parallelOf(flags),
    dtypeArgument: dtypeOfArgument(textOf(flags.get("dtype"))),
    quantizationArgument: textOf(flags.get("quantization")),
    expertBackend: textOf(flags.get("moe-backend")),
    isAsRead: isAsRead(spec, flags) && modelFactsOf(configText)?.isMlaKnown !== false,
  };
  return {
    situation,
    memory: memoryQuestion(situation, flags, configText, gpus, checkpoint.loadedBytes ?? null),
  };
}

type Flags = ReadonlyMap<string, JsonValue>;

function memoryQuestion(
  situation: Situation,
  flags: Flags,
  configText: string | null,
  gpus: readonly GpuSeen[],
  loadedBytes: number | null,
): MemoryQuestion {
  const { kv } = situation;
  const isPlain =
    situation.isAsRead &&
    // bitsandbytes and the like are made while loading.
    (situation.quantizationArgument === null || kv.config !== null) &&
    PLAIN_FORMATS.includes(flags.get("load-format") ?? "auto") &&
    MEMORY_FLAGS.every((flag) => !flags.has(flag));
  const length = flags.get("max-model-len");
  const isKeptOtherwise = LAYOUT_FLAGS.some((flag) => flags.has(flag));
  return {
    configText,
    weightBytes: isPlain ? loadedBytes : null,
    // A model of float32 is computed in 16 bits unless that is asked for. Source: vLLM 0.32.0 config/model.py _resolve_auto_dtype.
    dtypeBytes: situation.dtypeArgument === "float32" ? 4 : 2,
    parallel: situation.parallel,
    kvDtype: kv.attentionKind === "deepseek-v4" || isKeptOtherwise ? null : storedKvDtype(situation),
    maxModelLen: length === "auto" || length === -1 ? "auto" : numberOf(length),
    utilization: numberOf(flags.get("gpu-memory-utilization")) ?? defaultUtilization(kv.version),
    kvCacheBytes: numberOf(flags.get("kv-cache-memory-bytes")),
    gpus: situation.isOnEachGpu ? gpus : largestOf(gpus),
    step: {
      tokens: numberOf(flags.get("max-num-batched-tokens")),
      requests: numberOf(flags.get("max-num-seqs")),
    },
    isEager: flags.get("enforce-eager") === true,
    version: kv.version,
  };
}

/** Sparse MLA keeps FP8 in DeepSeek's layout, but for the backend of SM10x; on SM12x it does so whatever is asked. Source: vLLM 0.32.0 layers/attention/mla_attention.py:358. */
function storedKvDtype(situation: Situation): string | null {
  const kvDtype = kvDtypeOf(situation);
  const { kv, gpus } = situation;
  if (kv.attentionKind !== "sparse-mla" || kvDtype === null) return kvDtype;
  const major = gpus?.[0]?.[0];
  if (major === 12) return "fp8_ds_mla";
  return kvDtype.startsWith("fp8") && major !== 10 ? "fp8_ds_mla" : kvDtype;
}

/** On all of them, or on some: then nobody knows yet which are free. */
function isOnEachGpu({ gpus: wish }: Spec, gpus: readonly GpuSeen[]): boolean {
  return wish.kind === "list" || wish.count >= gpus.length;
}

/** Those that are listed, else any of the host: it may run on each of them. */
function gpusFor(spec: Spec, observed: Observed): readonly GpuSeen[] {
  const all = observed.gpus ?? [];
  const { gpus } = spec;
  return gpus.kind === "list"
    ? all.filter((gpu) => gpus.ids.includes(gpu.uuid) || gpus.ids.includes(gpu.index))
    : all;
}

/** Where it runs on some of them: what does not fit the largest fits none. */
function largestOf(gpus: readonly GpuSeen[]): readonly GpuSeen[] {
  const most = Math.max(...gpus.map(({ memoryTotalMib }) => memoryTotalMib));
  return gpus.filter(({ memoryTotalMib }) => memoryTotalMib === most).slice(0, 1);
}

/** A build between two releases, or before one, may have the changes of the next. */
function newestVersionOf(text: string | null, version: Version | null): Version | null {
  if (version === null || !/dev|rc|\+g/.test(text ?? "")) return version;
  return [version[0], version[1] + 1];
}

function parallelOf(flags: Flags): ParallelSizes {
  return {
    tensor: numberOf(flags.get("tensor-parallel-size")) ?? 1,
    pipeline: numberOf(flags.get("pipeline-parallel-size")) ?? 1,
    data: numberOf(flags.get("data-parallel-size")) ?? 1,
    isExpertParallel: flags.get("enable-expert-parallel") === true,
  };
}

function isAsRead(spec: Spec, flags: Flags): boolean {
  return (
    HIDDEN_BY_FLAGS.every((flag) => !flags.has(flag)) &&
    flags.get("config-format") !== "mistral" &&
    flags.get("distributed-executor-backend") !== "ray" &&
    spec.environment["VLLM_MLA_DISABLE"] === undefined
  );
}

function numberOf(value: JsonValue | undefined): number | null {
  return typeof value === "number" && value > 0 ? value : null;
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}
