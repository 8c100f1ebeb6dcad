import type { JsonObject } from "../json";
import type { JsonChange } from "./json-edit";
import type { NumberForms } from "./number-forms";

export interface PatchInput {
  /** Texts of config.json and hf_quant_config.json; null: the checkpoint has no such file. */
  readonly files: Readonly<Record<string, string | null>>;
  /** vLLM's name: "auto", "bfloat16", "float16", "fp8", ... */
  readonly kvCacheDtype: string;
  readonly quantizationConfigOverrides: JsonObject;
  /** Merged into the rest of config.json. */
  readonly configOverrides: JsonObject;
  /** How the numbers of overrides are to be written, where they come from a text; default: as JavaScript writes them. */
  readonly numberForms?: OverrideForms;
}

export interface OverrideForms {
  readonly quantizationConfigOverrides: NumberForms;
  readonly configOverrides: NumberForms;
}

export interface FileChange extends JsonChange {
  readonly file: string;
}

export interface PatchWarning {
  readonly code:
    "kv-dtype-differs-from-model-dtype" | "quantization-key-in-overrides" | "exclude-key-not-read";
  readonly message: string;
}

export type PatchRejectionCode =
  | "overrides-without-quantization-config"
  | "quantization-config-in-config-overrides"
  | "overrides-contradict-kv-cache-dtype"
  | "config-json-missing"
  | "file-not-json";

export type PatchResult =
  | {
      readonly kind: "patched";
      /** Only the files that are different, whole. */
      readonly files: Readonly<Record<string, string>>;
      readonly changes: readonly FileChange[];
      readonly warnings: readonly PatchWarning[];
    }
  | PatchRejection;

export interface PatchRejection {
  readonly kind: "rejected";
  readonly code: PatchRejectionCode;
  readonly message: string;
  /** The input at fault, or the file of the checkpoint. */
  readonly path: string;
}
