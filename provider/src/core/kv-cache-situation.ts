import type { JsonValue } from "./json";
import { isObject } from "./config-patch/json-edit";
import { memberOf, parseJsonText, valueOf } from "./config-patch/json-text";
import { isOfMethod, type ReadConfig, readConfigOf } from "./config-patch/read-config";
import { type AttentionKind, dtypeOfArgument, type ModelDtype } from "./model-config";

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
  /** config.json and hf_quant_config.json as vLLM will read them, that is, patched. */
  readonly files?: Readonly<Record<string, string | null>>;
  /** Compute capabilities of the GPUs it will run on, "12.0"; empty: not known. */
  readonly computeCapabilities?: readonly (string | null)[];
}

/** [major, minor] */
export type Version = readonly [number, number];

/** All that a KV-cache dtype depends on, as far as it is known before the start. */
export interface KvSituation {
  readonly wish: string;
  /** null: not known, then the newest is assumed. */
  readonly version: Version | null;
  readonly isCpuBuild: boolean;
  /** What the model will compute in; null: not known. */
  readonly dtype: string | null;
  readonly attentionKind: AttentionKind | null;
  /** First of config.json's architectures; null: not known. */
  readonly architecture: string | null;
  /** The quantization config that vLLM reads; null: none, or not known. */
  readonly config: ReadConfig | null;
  /** Of each GPU that says it. */
  readonly capabilities: readonly Version[];
}

export function situationOf(input: KvCacheWish): KvSituation {
  const files = input.files ?? {};
  return {
    wish: input.wish,
    version: majorMinor(input.vllmVersion),
    isCpuBuild: input.vllmVersion?.includes("+cpu") === true,
    dtype: dtypeOfArgument(input.dtypeArgument) ?? input.modelDtype,
    attentionKind: input.attentionKind ?? null,
    architecture: architectureOf(files["config.json"] ?? null),
    config: readConfigOf(files),
    capabilities: (input.computeCapabilities ?? []).map(majorMinor).filter((version) => version !== null),
  };
}

/** Whether a version is known and older. */
export function isBefore(version: Version | null, limit: Version): boolean {
  if (version === null) return false;
  return version[0] < limit[0] || (version[0] === limit[0] && version[1] < limit[1]);
}

/** Whether the layer has a KV cache of its own form: MLA. */
export function isMla({ attentionKind }: KvSituation): boolean {
  return attentionKind === "dense-mla" || attentionKind === "sparse-mla";
}

/** The KV-cache scheme that vLLM's attention layer checks, whatever the flag; null: none. */
export function checkedScheme(situation: KvSituation): JsonValue {
  if (isMla(situation) || !isOfMethod(situation.config, "compressed-tensors", "compressed_tensors"))
    return null;
  return situation.config?.value("kv_cache_scheme") ?? null;
}

/** What auto makes of a ModelOpt config; "unknown": vLLM warns and takes the model's dtype. null: nothing is asked for. */
export function modelOptRequest({ config }: KvSituation): "fp8" | "nvfp4" | "unknown" | null {
  const isSeenByAuto = config?.pointer === "/quantization_config" || config?.pointer === "";
  if (config === null || !isSeenByAuto || !isOfMethod(config, "modelopt*")) return null;
  // The first that is true in Python. Source: vllm 0.32.0 utils/torch_utils.py:470.
  const asked = [config.value("kv_cache_scheme"), config.value("kv_cache_quant_algo")].find(isTrueInPython);
  if (asked === undefined) return null;
  if (isObject(asked)) {
    if (asked["type"] !== "float") return "unknown";
    if (asked["num_bits"] === 8 && asked["dynamic"] === false) return "fp8";
    return asked["num_bits"] === 4 ? "nvfp4" : "unknown";
  }
  const name = typeof asked === "string" ? asked.toLowerCase() : "";
  return name === "fp8" || name === "nvfp4" ? name : "unknown";
}

function isTrueInPython(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === "") return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

function architectureOf(configText: string | null): string | null {
  const json = configText === null ? null : parseJsonText(configText);
  const node = json === null ? undefined : memberOf(json.root, "architectures")?.children?.[0];
  const name = json === null || node === undefined ? null : valueOf(json, node);
  return typeof name === "string" ? name : null;
}

/** A build without git tags calls itself 0.1.devN: that says nothing. Source: setuptools-scm, which vLLM's setup.py asks. */
export function majorMinor(version: string | null): Version | null {
  if (/^v?0\.[01]\.dev/.test(version ?? "")) return null;
  const match = /^v?(\d+)\.(\d+)/.exec(version ?? "");
  return match === null ? null : [Number(match[1]), Number(match[2])];
}
