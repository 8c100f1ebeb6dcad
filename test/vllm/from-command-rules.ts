import { isJsonList, isMembers } from "../../provider/src/core/input-json";
import type { JsonObject, JsonValue } from "../../provider/src/core/json";

/** A word or two that 0.32 refuses, and what the same is for it. */
interface Edit {
  readonly rule: string;
  /** Written words; null in the middle: any one word. */
  readonly words: readonly (string | RegExp)[];
  readonly instead: readonly string[];
}

/** What is edited in the words of an original, so that 0.32.0 reads them at all. Each row is a rule of the converter. */
const EDITS: readonly Edit[] = [
  { rule: "removed-flag", words: ["--disable-log-requests"], instead: [] },
  { rule: "removed-flag", words: ["--swap-space", /./], instead: [] },
  { rule: "removed-flag", words: ["--num-scheduler-steps", /./], instead: [] },
  { rule: "removed-flag", words: ["--max-seq-len-to-capture", /./], instead: [] },
  { rule: "removed-flag", words: ["--use-v2-block-manager"], instead: [] },
  { rule: "removed-flag", words: ["--device", /./], instead: [] },
  { rule: "renamed-flag", words: ["--task", "generate"], instead: ["--runner", "generate"] },
  { rule: "renamed-flag to configOverrides", words: ["--rope-scaling", /./], instead: [] },
  {
    rule: "renamed-flag",
    words: ["--cuda-graph-sizes", "2048"],
    instead: ["--max-cudagraph-capture-size", "2048"],
  },
  { rule: "old-value-form", words: ["image=4,video=0"], instead: ['{"image":4,"video":0}'] },
  {
    rule: "repaired",
    words: ["{'cudagraph_capture_sizes': [1, 2, 4, 8]}"],
    instead: ['{"cudagraph_capture_sizes":[1,2,4,8]}'],
  },
  { rule: "repaired", words: ["--enable-chunked-prefill=False"], instead: ["--no-enable-chunked-prefill"] },
  { rule: "tls", words: [/^--ssl-/, /./], instead: [] },
  { rule: "needs-value", words: [/^--(?:host|port)$/, /^\$\{/], instead: [] },
  { rule: "needs-value", words: [/^--(?:port|tensor-parallel-size|max-num-seqs)=\$\{/], instead: [] },
];

/**
 * The words of an original as 0.32.0 can read them.
 * @param isPinned the text names a version of its own, which knows what is gone today.
 */
export function editedWords(argv: readonly string[], isPinned: boolean): readonly string[] {
  const words = [...argv];
  for (const { rule, words: pattern, instead } of EDITS) {
    if (isPinned && /^re(?:moved|named)-flag/.test(rule)) continue;
    for (let at = 0; at + pattern.length <= words.length; at += 1) {
      const isHere = pattern.every((part, index) => {
        const word = words[at + index] ?? "";
        return typeof part === "string" ? word === part : part.test(word);
      });
      if (!isHere) continue;
      words.splice(at, pattern.length, ...instead);
      at += instead.length - 1;
    }
  }
  return words;
}

type Values = Readonly<Record<string, unknown>>;

/** A value that is meant to be another one: what it is then, from the inputs. */
interface Rule {
  readonly rule: string;
  readonly wanted: (inputs: JsonObject, original: Values) => unknown;
}

/** Values of the parser that the converter changes -> what they are instead. All others stay as they were. */
export const RULES: Readonly<Record<string, Rule>> = {
  model_tag: {
    rule: "paths of the host; a model that is not known has none",
    wanted: (inputs) => modelOf(inputs),
  },
  host: { rule: "narrower-address", wanted: (inputs) => member(inputs, "listen", "address") ?? "127.0.0.1" },
  port: { rule: "published port", wanted: (inputs) => member(inputs, "listen", "port") ?? 8000 },
  served_model_name: {
    rule: "served-name; a repository is served under its own name",
    wanted: (inputs) =>
      member(inputs, "engine", "servedModelName") ?? [String(modelOf(inputs)).replace(/^\/(?:.*\/)?/, "")],
  },
  api_key: { rule: "api-key-on-argv: in the environment", wanted: () => null },
  hf_token: { rule: "secret-on-argv: in the environment", wanted: () => null },
  download_dir: { rule: "moved-flag: HF_HUB_CACHE", wanted: () => null },
  tokenizer: {
    rule: "no slash at the end of a path",
    wanted: (inputs) => member(inputs, "engine", "tokenizer") ?? null,
  },
  hf_config_path: {
    rule: "no slash at the end of a path",
    wanted: (inputs) => member(inputs, "extraArgs", "hf-config-path") ?? null,
  },
  attention_backend: {
    rule: "renamed-env VLLM_ATTENTION_BACKEND",
    wanted: (inputs, original) =>
      member(inputs, "engine", "attentionBackend") ?? original["attention_backend"],
  },
  lora_modules: {
    rule: "paths of the host",
    wanted: (inputs, original) => {
      const modules = member(inputs, "engine", "loraModules");
      if (!isJsonList(modules ?? null)) return original["lora_modules"];
      const texts = (modules as readonly string[]).map((text) => {
        const [name, path] = text.split(/=(.*)/);
        return `LoRAModulePath(name='${name ?? ""}', path='${path ?? ""}', base_model_name=None, is_3d_lora_weight=False)`;
      });
      return `list: [${texts.join(", ")}]`;
    },
  },
};

function modelOf(inputs: JsonObject): unknown {
  return member(inputs, "model", "path") ?? member(inputs, "model", "repo");
}

function member(inputs: JsonObject, place: string, name: string): JsonValue | undefined {
  const object = inputs[place];
  return isMembers(object) ? object[name] : undefined;
}

/** What somebody decides who follows the notes: which model, where a relative folder is, no HTTPS, who may come. */
export function decided(inputs: JsonObject): JsonObject {
  const path = member(inputs, "model", "path");
  const isPlaced = typeof path === "string" || member(inputs, "model", "repo") !== undefined;
  const executable = member(inputs, "vllm", "executable");
  const isThere = typeof executable !== "string" || /^[/~]/.test(executable);
  const { vllm, model, extraArgs, ...rest } = inputs;
  return {
    ...rest,
    model:
      typeof path === "string"
        ? { ...(isMembers(model) ? model : {}), path: path.replace(/^(?![/~])(?:\.\/)?/, "/here/") }
        : isPlaced && model !== undefined
          ? model
          : { path: "/unknown" },
    extraArgs: Object.fromEntries(
      Object.entries(extraArgs ?? {}).filter(([flag]) => !flag.startsWith("ssl-")),
    ),
    ...(isThere && vllm !== undefined ? { vllm } : {}),
    allowUnauthenticated: true,
  };
}
