import type { JsonValue } from "../json";
import { type JsonText, memberOf, parseJsonText, valueOf } from "./json-text";
import { isMethod, type SettingsForm } from "./kv-request-places";
import { type Place, settingsOf } from "./quantization-configs";

/** The one quantization config of a checkpoint that vLLM reads. */
export interface ReadConfig {
  readonly file: string;
  /** JSON pointer. */
  readonly pointer: string;
  /** Lower case; ModelOpt's own files name none and get "modelopt". null: not said. */
  readonly method: string | null;
  readonly form: SettingsForm;
  /** ModelOpt's quant_algo, upper case. */
  readonly algorithm: string | null;
  /** Value of a key: of the settings, else of the config around them. */
  readonly value: (key: string) => JsonValue | undefined;
}

/**
 * In the order vLLM looks: the first that is not null counts, an empty object too.
 * Source: vllm 0.32.0 transformers_utils/config.py:890, model_loader/weight_utils.py:235; the same in 0.16.0 and 0.33.0.
 */
const PLACES: readonly { readonly file: string; readonly path: readonly string[] }[] = [
  { file: "config.json", path: ["quantization_config"] },
  { file: "hf_quant_config.json", path: [] },
  { file: "config.json", path: ["text_config", "quantization_config"] },
  { file: "config.json", path: ["llm_config", "quantization_config"] },
  { file: "config.json", path: ["compression_config"] },
];

/** The config that vLLM reads; null: it loads the checkpoint as unquantized, or no file can be read. */
export function readConfigOf(files: Readonly<Record<string, string | null>>): ReadConfig | null {
  for (const { file, path } of PLACES) {
    const text = files[file] ?? null;
    const json = text === null ? null : parseJsonText(text);
    if (json === null) continue;
    const node = path.reduce<Place["node"] | undefined>(
      (at, key) => (at === undefined ? undefined : memberOf(at, key)),
      json.root,
    );
    if (node === undefined || node.type === "null") continue;
    return readConfig(json, file, { node, pointer: path.map((key) => `/${key}`).join("") });
  }
  return null;
}

function readConfig(json: JsonText, file: string, config: Place): ReadConfig {
  const settings = settingsOf(config);
  const value = (key: string): JsonValue | undefined => {
    const node = memberOf(settings.node, key) ?? memberOf(config.node, key);
    return node === undefined ? undefined : valueOf(json, node);
  };
  const method = value("quant_method");
  const algorithm = value("quant_algo");
  const isModelOpt = typeof algorithm === "string" || file === "hf_quant_config.json";
  return {
    file,
    pointer: config.pointer,
    method: typeof method === "string" ? method.toLowerCase() : isModelOpt ? "modelopt" : null,
    form: settings === config ? "flat" : "inner",
    algorithm: typeof algorithm === "string" ? algorithm.toUpperCase() : null,
    value,
  };
}

/** Whether the config is of one of these methods; "modelopt*" stands for all that begin so. */
export function isOfMethod(config: ReadConfig | null, ...methods: readonly string[]): boolean {
  const method = config?.method ?? null;
  return method !== null && methods.some((pattern) => isMethod(method, pattern));
}
