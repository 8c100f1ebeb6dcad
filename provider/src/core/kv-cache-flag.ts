import {
  type AttentionKind,
  dtypeOfArgument,
  isSixteenBit,
  type ModelDtype,
  type SixteenBitDtype,
} from "./model-config";

export interface KvCacheWish {
  /** The input kvCacheDtype: "auto" or one of vLLM's names. */
  readonly wish: string;
  /** null: not known. */
  readonly vllmVersion: string | null;
  /** Dtype of the checkpoint; null: it does not say. */
  readonly modelDtype: ModelDtype | null;
  /** What is given as --dtype; null: nothing. */
  readonly dtypeArgument: string | null;
  readonly attentionKind?: AttentionKind | null;
}

export interface KvCacheWarning {
  readonly code: "kv-dtype-refused" | "kv-dtype-unknown-to-version" | "kv-dtype-decided-by-model";
  readonly message: string;
}

export interface KvCacheFlag {
  /** Value for --kv-cache-dtype; null: do not pass it (vLLM's own default, "auto"). */
  readonly flag: string | null;
  readonly warnings: readonly KvCacheWarning[];
}

interface Situation {
  readonly wish: SixteenBitDtype;
  /** [major, minor]; null: not known, then the newest is assumed. */
  readonly version: readonly [number, number] | null;
  readonly isCpuBuild: boolean;
  /** What the model will compute in; null: not known. */
  readonly dtype: string | null;
  readonly attentionKind: AttentionKind | null;
}

interface FlagRule {
  readonly holds: (situation: Situation) => boolean;
  /** "auto" is passed as no flag: after the checkpoint was neutralised it means the model's dtype. */
  readonly pass: "auto" | "wish";
  readonly warning?: KvCacheWarning;
  /** Version it was checked with, and where it stands. */
  readonly source: string;
}

/** For an explicit 16-bit wish on a checkpoint without KV request: the first row that holds decides. */
const FLAG_RULES: readonly FlagRule[] = [
  {
    holds: ({ attentionKind }) => attentionKind === "deepseek-v4",
    pass: "wish",
    warning: {
      code: "kv-dtype-decided-by-model",
      message:
        "DeepSeek-V4 chooses its KV cache dtype itself: only its FlashInfer backend (SM10x, SM12x) takes a 16-bit one",
    },
    source: "vllm 0.32.0 models/deepseek_v4/attention.py:108",
  },
  {
    holds: ({ version, wish, dtype }) => isBefore(version, [0, 18]) && wish === "float16" && dtype !== wish,
    pass: "auto",
    warning: {
      code: "kv-dtype-unknown-to-version",
      message: "this vLLM does not know --kv-cache-dtype float16: the KV cache gets the model's own dtype",
    },
    source: "vllm 0.16.0 config/cache.py: float16 is no value of --kv-cache-dtype",
  },
  {
    holds: ({ version, wish, dtype }) => isBefore(version, [0, 18]) && dtype === wish,
    pass: "auto",
    source:
      "vllm 0.16.0 v1/attention/ops/triton_reshape_and_cache_flash.py:148 asserts auto or fp8; <= 0.14 TRITON_MLA knows auto only",
  },
  {
    holds: ({ isCpuBuild, wish, dtype }) => isCpuBuild && dtype === wish,
    pass: "auto",
    source: "vllm 0.32.0 CPU_MLA knows auto only",
  },
  {
    holds: ({ version, wish, dtype }) => !isBefore(version, [0, 33]) && isSixteenBit(dtype) && dtype !== wish,
    pass: "wish",
    warning: {
      code: "kv-dtype-refused",
      message:
        "vLLM 0.33 and later refuse a 16-bit kvCacheDtype that is not the model's own dtype (engine.dtype changes that one)",
    },
    source: "vllm 0.33.0 config/vllm.py:1492",
  },
  {
    holds: ({ attentionKind }) => attentionKind === "sparse-mla",
    pass: "wish",
    warning: {
      code: "kv-dtype-decided-by-model",
      message:
        "sparse MLA stores fp8_ds_mla on SM12x GPUs whatever is asked: compare the output kvCacheDtype after the start",
    },
    source: "vllm 0.32.0 model_executor/models/config.py:38, layers/attention/mla_attention.py:358",
  },
  {
    holds: () => true,
    pass: "wish",
    source:
      "vllm 0.32.0: auto takes fp8 for GLM-DSA on SM10x even without a request (models/config.py:50), the explicit value never",
  },
];

/**
 * Which --kv-cache-dtype carries a wish out, once patchCheckpoint has taken the checkpoint's own wish away.
 * Never fails; what cannot be had comes as a warning.
 */
export function chooseKvCacheFlag(input: KvCacheWish): KvCacheFlag {
  if (input.wish === "auto") return { flag: null, warnings: [] };
  if (!isSixteenBit(input.wish)) return { flag: input.wish, warnings: [] };
  const situation: Situation = {
    wish: input.wish,
    version: majorMinor(input.vllmVersion),
    isCpuBuild: input.vllmVersion?.includes("+cpu") === true,
    dtype: dtypeOfArgument(input.dtypeArgument) ?? input.modelDtype,
    attentionKind: input.attentionKind ?? null,
  };
  const rule = FLAG_RULES.find((row) => row.holds(situation));
  const warnings = rule?.warning === undefined ? [] : [rule.warning];
  return { flag: rule?.pass === "auto" ? null : input.wish, warnings };
}

/** A build without git tags calls itself 0.1.devN: that says nothing. Source: setuptools-scm, which vLLM's setup.py asks. */
function majorMinor(version: string | null): readonly [number, number] | null {
  if (/^v?0\.[01]\.dev/.test(version ?? "")) return null;
  const match = /^v?(\d+)\.(\d+)/.exec(version ?? "");
  return match === null ? null : [Number(match[1]), Number(match[2])];
}

function isBefore(version: readonly [number, number] | null, limit: readonly [number, number]): boolean {
  if (version === null) return false;
  return version[0] < limit[0] || (version[0] === limit[0] && version[1] < limit[1]);
}
