import type { AttentionKind } from "../model-config";
import { isBefore, type Version } from "../kv-cache-situation";

/** One attention backend of vLLM on NVIDIA GPUs: which GPUs, versions and KV-cache dtypes it takes. */
export interface BackendRow {
  readonly backend: string;
  readonly kinds: readonly AttentionKind[];
  /** Compute capabilities, from the first on and before the second. */
  readonly gpus: readonly (readonly [Version, Version])[];
  /** null: since the oldest version that is known here. */
  readonly since: Version | null;
  readonly kvDtypes: readonly string[];
  /** Version it was checked with, and where it stands. */
  readonly source: string;
}

/**
 * Versions the table speaks for: read in 0.16.0, 0.18.0, 0.20.0, 0.24.0, 0.28.0, 0.32.0 and 0.33.0. What came between two of them
 * stands from the earlier one on, so nothing is refused that may work.
 */
export const KNOWN_VERSIONS = { since: [0, 16], before: [0, 34] } as const satisfies {
  readonly since: Version;
  readonly before: Version;
};

const ANY: readonly (readonly [Version, Version])[] = [
  [
    [0, 0],
    [99, 0],
  ],
];
const from = (low: Version): readonly (readonly [Version, Version])[] => [[low, [99, 0]]];
const of = (...majors: readonly number[]): readonly (readonly [Version, Version])[] =>
  majors.map(
    (major) =>
      [
        [major, 0],
        [major + 1, 0],
      ] as const,
  );

const FP8 = ["fp8", "fp8_e4m3"];
const MLA = "v1/attention/backends/mla";

export const BACKENDS: readonly BackendRow[] = [
  {
    backend: "TRITON_MLA",
    kinds: ["dense-mla"],
    gpus: ANY,
    since: null,
    kvDtypes: ["auto"],
    source: `vLLM 0.16.0 and 0.32.0 ${MLA}/triton_mla.py`,
  },
  {
    backend: "TRITON_MLA",
    kinds: ["dense-mla"],
    gpus: from([8, 0]),
    since: null,
    kvDtypes: ["bfloat16"],
    source: `vLLM 0.16.0 and 0.32.0 ${MLA}/triton_mla.py (bfloat16 needs 8.0)`,
  },
  {
    backend: "TRITON_MLA",
    kinds: ["dense-mla"],
    gpus: ANY,
    since: [0, 17],
    kvDtypes: ["float16"],
    source: `vLLM 0.32.0 ${MLA}/triton_mla.py`,
  },
  {
    backend: "TRITON_MLA",
    kinds: ["dense-mla"],
    gpus: from([8, 9]),
    since: [0, 18],
    kvDtypes: FP8,
    source: `vLLM 0.18.0 and 0.32.0 ${MLA}/triton_mla.py (FP8 needs 8.9); 0.16.0 has none`,
  },
  {
    backend: "FLASH_ATTN_MLA",
    kinds: ["dense-mla"],
    gpus: of(9),
    since: null,
    kvDtypes: ["auto", "bfloat16"],
    source: `vLLM 0.16.0 and 0.32.0 ${MLA}/flashattn_mla.py`,
  },
  {
    backend: "FLASHMLA",
    kinds: ["dense-mla"],
    gpus: of(9, 10),
    since: null,
    kvDtypes: ["auto", "bfloat16", ...FP8],
    source: `vLLM 0.16.0 and 0.32.0 ${MLA}/flashmla.py`,
  },
  {
    backend: "FLASHINFER_MLA",
    kinds: ["dense-mla"],
    gpus: of(10),
    since: null,
    kvDtypes: ["auto", "bfloat16", ...FP8],
    source: `vLLM 0.16.0 and 0.32.0 ${MLA}/flashinfer_mla.py`,
  },
  {
    backend: "CUTLASS_MLA",
    kinds: ["dense-mla"],
    gpus: of(10),
    since: null,
    kvDtypes: ["auto", "bfloat16", ...FP8],
    source: `vLLM 0.16.0 and 0.32.0 ${MLA}/cutlass_mla.py`,
  },
  {
    backend: "FLASHMLA_SPARSE",
    kinds: ["sparse-mla"],
    gpus: of(9, 10),
    since: null,
    kvDtypes: ["auto", "bfloat16", "fp8_ds_mla"],
    source: `vLLM 0.16.0 and 0.32.0 ${MLA}/flashmla_sparse.py`,
  },
  {
    backend: "FLASHMLA_SPARSE",
    kinds: ["sparse-mla"],
    gpus: of(9, 10),
    // 0.16.0 makes fp8 of DeepSeek-V3.2 into fp8_ds_mla in model_executor/models/config.py.
    since: null,
    kvDtypes: FP8,
    source: `vLLM 0.32.0 ${MLA}/flashmla_sparse.py (fp8), flashinfer_mla_sparse.py (fp8_e4m3); 0.16.0 model_executor/models/config.py`,
  },
  {
    backend: "FLASHMLA_SPARSE",
    kinds: ["sparse-mla"],
    gpus: of(9, 10),
    since: [0, 17],
    kvDtypes: ["nvfp4_ds_mla"],
    source: `vLLM 0.32.0 ${MLA}/flashmla_sparse.py`,
  },
  {
    backend: "FLASHINFER_MLA_SPARSE",
    kinds: ["sparse-mla"],
    gpus: of(10),
    since: [0, 17],
    kvDtypes: ["auto", "float16", "bfloat16", ...FP8],
    source: `vLLM 0.32.0 ${MLA}/flashinfer_mla_sparse.py`,
  },
  {
    backend: "FLASH_ATTN_MLA_SPARSE",
    kinds: ["sparse-mla"],
    gpus: of(9),
    since: [0, 17],
    kvDtypes: ["auto", "float16", "bfloat16"],
    source: `vLLM 0.32.0 ${MLA}/flashattn_mla_sparse.py`,
  },
  {
    backend: "FLASHINFER_MLA_SPARSE_SM120",
    kinds: ["sparse-mla"],
    gpus: of(12),
    since: [0, 21],
    // bfloat16 of DeepSeek-V3.2 is made into auto, and auto into fp8_ds_mla: kv-wish-rules-backend.ts tells of that.
    kvDtypes: ["auto", ...FP8, "fp8_ds_mla"],
    source: `vLLM 0.24.0 and 0.32.0 ${MLA}/flashinfer_mla_sparse_sm120.py; 0.20.0 has none`,
  },
  {
    backend: "FLASH_ATTN",
    kinds: ["attention"],
    gpus: from([8, 0]),
    since: null,
    kvDtypes: ["auto", "float16", "bfloat16", ...FP8],
    source: "vLLM 0.16.0 and 0.32.0 v1/attention/backends/flash_attn.py",
  },
  {
    backend: "TRITON_ATTN",
    kinds: ["attention"],
    gpus: ANY,
    since: null,
    kvDtypes: ["auto", "float16", "bfloat16", ...FP8, "fp8_e5m2", "fp8_inc"],
    source: "vLLM 0.16.0 and 0.32.0 v1/attention/backends/triton_attn.py",
  },
  {
    backend: "TRITON_ATTN",
    kinds: ["attention"],
    gpus: ANY,
    since: [0, 17],
    kvDtypes: ["fp8_per_token_head", "int8_per_token_head", "int4_per_token_head"],
    source: "vLLM 0.32.0 v1/attention/backends/triton_attn.py",
  },
  {
    backend: "FLASHINFER",
    kinds: ["attention"],
    gpus: [
      [
        [8, 0],
        [11, 0],
      ],
      [
        [12, 0],
        [12, 2],
      ],
    ],
    since: [0, 17],
    kvDtypes: ["nvfp4", "nvfp4_4over6"],
    source: "vLLM 0.32.0 v1/attention/backends/flashinfer.py supports_kv_cache_dtype, _nvfp4_kv_on_fa2",
  },
  {
    backend: "TURBOQUANT",
    kinds: ["attention"],
    gpus: ANY,
    since: [0, 17],
    kvDtypes: [
      "turboquant_3bit_nc",
      "turboquant_4bit_nc",
      "turboquant_k3v4_nc",
      "turboquant_k8v4",
      "ultraquant_4bit",
    ],
    source: "vLLM 0.32.0 v1/attention/backends/turboquant_attn.py, ultraquant_attn.py",
  },
];

export interface AttentionQuestion {
  readonly kind: AttentionKind;
  readonly kvDtype: string;
  readonly version: Version;
  readonly gpu: Version;
}

/** Backends that take it, in the order of the table, each once; []: none. Asked for known versions only. */
export function backendsFor({ kind, kvDtype, version, gpu }: AttentionQuestion): readonly string[] {
  const rows = BACKENDS.filter(
    (row) =>
      row.kinds.includes(kind) &&
      row.kvDtypes.includes(kvDtype) &&
      (row.since === null || !isBefore(version, row.since)) &&
      row.gpus.some(([low, high]) => !isBefore(gpu, low) && isBefore(gpu, high)),
  );
  return [...new Set(rows.map((row) => row.backend))];
}

/** Whether the table speaks for a version. */
export function isKnownVersion(version: Version | null): version is Version {
  return (
    version !== null && !isBefore(version, KNOWN_VERSIONS.since) && isBefore(version, KNOWN_VERSIONS.before)
  );
}
