import { isBefore, type Version } from "../kv-cache-situation";
import type { ReadConfig } from "../config-patch/read-config";
import { LATEST_READ } from "./versions";
import type { VersionRange } from "./situation";

/** The oldest GPUs that a quantization method loads on. */
export interface QuantizationFloor {
  readonly row: string;
  /** quant_method of the checkpoint. */
  readonly methods: readonly string[];
  /** ModelOpt's quant_algo, where it decides; null: any. */
  readonly algorithms: readonly string[] | null;
  readonly versions: VersionRange;
  readonly capability: Version;
  readonly source: string;
}

const Q = "model_executor/layers/quantization";
const from = (since: Version | null, before: Version = LATEST_READ): VersionRange => ({ since, before });
const OLDEST: Version = [0, 11];

/** get_min_capability of each method, in 0.11.0, 0.13.0, 0.16.0, 0.18.0, 0.24.0, 0.32.0 and 0.33.0; what changed between two is left out between them. */
export const QUANTIZATION_FLOORS: readonly QuantizationFloor[] = [
  {
    row: "AWQ",
    methods: ["awq", "awq_marlin", "auto_awq"],
    algorithms: null,
    versions: from(OLDEST),
    capability: [7, 5],
    source: `vLLM 0.11.0 to 0.33.0 ${Q}/awq.py, auto_awq.py: 75`,
  },
  {
    row: "FP8 before 0.14",
    methods: ["fp8"],
    algorithms: null,
    versions: from(OLDEST, [0, 14]),
    capability: [8, 0],
    source: `vLLM 0.11.0 and 0.13.0 ${Q}/fp8.py: 80`,
  },
  {
    row: "FP8",
    methods: ["fp8"],
    algorithms: null,
    versions: from([0, 14]),
    capability: [7, 5],
    source: `vLLM 0.16.0 to 0.33.0 ${Q}/fp8.py: 75`,
  },
  {
    row: "FBGEMM FP8",
    methods: ["fbgemm_fp8"],
    algorithms: null,
    versions: from(OLDEST),
    capability: [8, 0],
    source: `vLLM 0.11.0 to 0.33.0 ${Q}/fbgemm_fp8.py: 80`,
  },
  {
    row: "compressed-tensors",
    methods: ["compressed-tensors", "compressed_tensors"],
    algorithms: null,
    versions: from(OLDEST),
    capability: [7, 0],
    source: `vLLM 0.11.0 to 0.33.0 ${Q}/compressed_tensors/compressed_tensors.py: 70`,
  },
  {
    row: "MXFP4",
    methods: ["mxfp4", "gpt_oss_mxfp4"],
    algorithms: null,
    versions: from(OLDEST),
    capability: [8, 0],
    source: `vLLM 0.11.0 to 0.33.0 ${Q}/mxfp4.py: 80`,
  },
  {
    row: "ModelOpt FP8 before 0.25",
    methods: ["modelopt"],
    algorithms: ["FP8"],
    versions: from(OLDEST, [0, 25]),
    capability: [8, 9],
    source: `vLLM 0.11.0 to 0.24.0 ${Q}/modelopt.py ModelOptFp8Config: 89`,
  },
  {
    row: "ModelOpt FP8",
    methods: ["modelopt"],
    algorithms: ["FP8"],
    versions: from([0, 25]),
    capability: [8, 0],
    source: `vLLM 0.32.0 and 0.33.0 ${Q}/modelopt.py ModelOptFp8Config: 80`,
  },
  {
    row: "ModelOpt NVFP4 before 0.14",
    methods: ["modelopt", "modelopt_fp4"],
    algorithms: ["NVFP4"],
    versions: from(OLDEST, [0, 14]),
    capability: [8, 0],
    source: `vLLM 0.11.0 and 0.13.0 ${Q}/modelopt.py ModelOptNvFp4Config: 80`,
  },
  {
    row: "ModelOpt NVFP4",
    methods: ["modelopt", "modelopt_fp4"],
    algorithms: ["NVFP4"],
    versions: from([0, 14]),
    capability: [7, 5],
    source: `vLLM 0.16.0 to 0.33.0 ${Q}/modelopt.py ModelOptNvFp4Config: 75`,
  },
  {
    row: "ModelOpt MXFP8 before 0.19",
    methods: ["modelopt", "modelopt_mxfp8"],
    algorithms: ["MXFP8"],
    versions: from([0, 16], [0, 19]),
    capability: [10, 0],
    source: `vLLM 0.16.0 and 0.18.0 ${Q}/modelopt.py ModelOptMxFp8Config: 100`,
  },
  {
    row: "ModelOpt MXFP8",
    methods: ["modelopt", "modelopt_mxfp8"],
    algorithms: ["MXFP8"],
    versions: from([0, 19]),
    capability: [8, 0],
    source: `vLLM 0.24.0 to 0.33.0 ${Q}/modelopt.py ModelOptMxFp8Config: 80`,
  },
  {
    row: "TorchAO",
    methods: ["torchao"],
    algorithms: null,
    versions: from(OLDEST),
    capability: [7, 5],
    source: `vLLM 0.11.0 to 0.33.0 ${Q}/torchao.py: 75`,
  },
  {
    row: "FP-Quant",
    methods: ["fp_quant"],
    algorithms: null,
    versions: from([0, 13]),
    capability: [10, 0],
    source: `vLLM 0.13.0 to 0.33.0 ${Q}/fp_quant.py: 100`,
  },
  {
    row: "bitsandbytes",
    methods: ["bitsandbytes"],
    algorithms: null,
    versions: from(OLDEST, [0, 25]),
    capability: [7, 0],
    source: `vLLM 0.11.0 to 0.24.0 ${Q}/bitsandbytes.py: 70`,
  },
];

/** The row for a checkpoint and a version; null: none is known. */
export function floorFor(config: ReadConfig, version: Version): QuantizationFloor | null {
  const { method, algorithm } = config;
  const found = QUANTIZATION_FLOORS.find(
    ({ methods, algorithms, versions: { since, before } }) =>
      method !== null &&
      methods.includes(method) &&
      (algorithms === null || (algorithm !== null && algorithms.includes(algorithm))) &&
      (since === null || !isBefore(version, since)) &&
      (before === null || isBefore(version, before)),
  );
  return found ?? null;
}
