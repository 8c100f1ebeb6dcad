import type { JsonValue } from "../../provider/src/core/json";
import type { FlagRow } from "../../provider/src/core/vllm-flags-table";

/** Text that YAML, a shell or a parser in between would change if it could. */
const AWKWARD = "yes: 'no' \"#\" 0123\n\u{1f600}";

/** Values that the real parser has to take for this flag, and give back. */
export function samplesFor(flag: string, row: FlagRow): readonly JsonValue[] {
  if (flag === "lora-modules") return [["one=/l", { name: "two", path: "/m" }]];
  switch (row.kind) {
    case "bool":
      return [true, false];
    case "flag":
      return [true];
    case "int":
      return [3];
    case "float":
      return [0.5, 1e-7];
    case "humanInt":
    case "humanIntOrAuto":
      return [4096, -1];
    case "string":
      return [AWKWARD];
    case "enum":
      return row.choices ?? [];
    case "append":
      return [["one.two"]];
    case "list":
      if (row.choices !== undefined) return [row.choices.slice(0, 2)];
      return row.item === "int" ? [[1, 2]] : [["one", "0x10", "no"]];
    case "commaList":
      return [[2, 3]];
    case "json":
      return row.shape === "list" ? [["a"]] : [{}];
    case "unknown":
      return [];
    default:
      return row.kind satisfies never;
  }
}

/** Values that the real parser refuses, and that we have to refuse before anything is stopped. */
export function wrongSamplesFor(row: FlagRow): readonly JsonValue[] {
  switch (row.kind) {
    case "int":
      return ["1e3", [1, 2]];
    case "float":
      return ["x", [0.5]];
    case "humanInt":
    case "humanIntOrAuto":
      return ["2.5M", "16x", 3.5, [1]];
    case "enum":
      return ["no-such-choice"];
    case "list":
      if (row.choices !== undefined) return ["no-such-choice", ["no-such-choice"]];
      return row.item === "int" ? ["a", [3.5]] : [];
    case "json":
      if (row.orText === true || row.shape === "list") return [];
      return row.keys === undefined ? [] : ["yes", "null", [1], '{"no_such_member": 1}'];
    case "bool":
    case "flag":
      return ["false"];
    case "string":
    case "commaList":
    case "append":
    case "unknown":
      return [];
    default:
      return row.kind satisfies never;
  }
}

/** Values for the typed flags, as users write them. */
export const ENGINE_SAMPLES: Readonly<Record<string, JsonValue>> = {
  tensorParallelSize: 2,
  pipelineParallelSize: 2,
  dataParallelSize: 2,
  maxNumSeqs: 256,
  maxNumBatchedTokens: 8192,
  blockSize: 32,
  maxLoras: 4,
  maxLoraRank: 64,
  kvCacheMemoryBytes: 8_000_000_000,
  maxModelLen: "auto",
  gpuMemoryUtilization: 0.925,
  cpuOffloadGb: 1.5,
  enableExpertParallel: true,
  enforceEager: false,
  trustRemoteCode: true,
  enableAutoToolChoice: true,
  enablePrefixCaching: false,
  enableChunkedPrefill: false,
  asyncScheduling: false,
  enableLora: true,
  languageModelOnly: true,
  dtype: "bfloat16",
  quantization: "modelopt_fp4",
  loadFormat: "dummy",
  tokenizer: "/models/t",
  tokenizerMode: "deepseek_v32",
  configFormat: "hf",
  runner: "generate",
  convert: "none",
  chatTemplate: "{{ 'a' }}\n{% if b %} no {% endif %}",
  toolCallParser: "kimi_k2",
  reasoningParser: "kimi_k2",
  attentionBackend: "TRITON_MLA",
  distributedExecutorBackend: "mp",
  mmEncoderTpMode: "data",
  servedModelName: ["kimi", "no"],
  loraModules: ["one=/l", { name: "two", path: "/m" }],
  hfOverrides: { rope_parameters: { factor: 2.5 }, x: null },
  speculativeConfig: { method: "ngram", num_speculative_tokens: 3 },
  compilationConfig: { cudagraph_mode: "FULL" },
  limitMmPerPrompt: { image: 2 },
  defaultChatTemplateKwargs: { thinking: false },
  overrideGenerationConfig: { temperature: 0.6 },
};
