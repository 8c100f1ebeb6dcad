import { isBefore, type Version } from "../kv-cache-situation";
import type { AttentionKind } from "../model-config";
import { type AttentionQuestion, BACKENDS, backendsFor } from "./attention-backends";

/** What can be changed so that an attention backend is there: of the KV cache, of vLLM, of the GPUs. */

/** In the order they are proposed: what the model computes in, then half of it. */
const PROPOSED_DTYPES = ["bfloat16", "float16", "fp8"];
/** Compute capabilities of data-centre and workstation GPUs: A100, L40S, H100, B200, RTX PRO 6000. Source: NVIDIA's list of CUDA GPUs. */
const PROPOSED_GPUS: readonly Version[] = [
  [8, 0],
  [8, 9],
  [9, 0],
  [10, 0],
  [12, 0],
];

interface Stuck {
  readonly kind: AttentionKind;
  readonly kvDtype: string;
  readonly version: Version;
  readonly gpus: readonly Version[];
}

/** `kvCacheDtype: "bfloat16"   (or vllm.version 0.18.0 or newer, or GPUs of compute capability 9.0 or 10.0)`; null: there is no way. */
export function waysOut(stuck: Stuck): string | null {
  const works = (change: Partial<AttentionQuestion>): boolean =>
    stuck.gpus.every((gpu) => backendsFor({ ...stuck, gpu, ...change }).length > 0);
  const dtype = PROPOSED_DTYPES.find((kvDtype) => works({ kvDtype }));
  const version = laterVersions(stuck.version).find((later) => works({ version: later }));
  const gpus = PROPOSED_GPUS.filter((gpu) => backendsFor({ ...stuck, gpu }).length > 0);
  const ways = [
    ...(dtype === undefined ? [] : [`kvCacheDtype: "${dtype}"`]),
    ...(version === undefined ? [] : [`vllm.version ${version.join(".")}.0 or newer`]),
    ...(gpus.length === 0
      ? []
      : [`GPUs of compute capability ${gpus.map((gpu) => gpu.join(".")).join(" or ")}`]),
  ];
  const [first, ...rest] = ways;
  if (first === undefined) return null;
  return rest.length === 0 ? first : `${first}   (or ${rest.join(", or ")})`;
}

/** Versions that brought something, the oldest first. */
function laterVersions(version: Version): readonly Version[] {
  const all = BACKENDS.flatMap(({ since }) => (since === null || !isBefore(version, since) ? [] : [since]));
  return [...all].sort((one, other) => (isBefore(one, other) ? -1 : 1));
}
