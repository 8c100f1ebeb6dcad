import type { z } from "zod";
import { isJsonObject, isRecord } from "./input-json";
import { boolean, integer, isInteger, isText, leaf, number, numberHint } from "./input-leaf";
import { kebabCase } from "./input-names";
import type { JsonValue } from "./json";

/** How a typed flag is given to vLLM, whatever its version. Source: vLLM 0.32.0 `vllm serve` parser; older versions agree on these. */
type EngineKind = "number" | "bool" | "text" | "list" | "json";

export interface EngineFlag {
  /** vLLM's long name without dashes in front. */
  readonly flag: string;
  readonly kind: EngineKind;
  readonly schema: z.ZodType<JsonValue>;
}

const requests = "requests";
const tokens = "tokens";
const processes = "GPUs";

const wholeNumbers = {
  tensorParallelSize: integer(processes, 1),
  pipelineParallelSize: integer(processes, 1),
  dataParallelSize: integer(processes, 1),
  maxNumSeqs: integer(requests, 1),
  maxNumBatchedTokens: integer(tokens, 1),
  blockSize: integer(tokens, 1),
  maxLoras: integer("adapters", 1),
  maxLoraRank: integer("rank", 1),
  kvCacheMemoryBytes: integer("bytes per GPU", 1),
  maxModelLen: leaf<JsonValue>(
    (value) =>
      `a whole number of tokens of at least 1, or "auto"${value === -1 ? ', here "auto"' : numberHint(value)}`,
    (value) => value === "auto" || isInteger(value, 1),
  ),
} as const;

const numbers = {
  gpuMemoryUtilization: number("a fraction above 0, at most 1", (value) => value > 0 && value <= 1),
  cpuOffloadGb: number("GiB per GPU, at least 0", (value) => value >= 0),
} as const;

const booleanNames = [
  "enableExpertParallel",
  "enforceEager",
  "trustRemoteCode",
  "enableAutoToolChoice",
  "enablePrefixCaching",
  "enableChunkedPrefill",
  "asyncScheduling",
  "enableLora",
  "languageModelOnly",
] as const;

const textNames = [
  "dtype",
  "quantization",
  "loadFormat",
  "tokenizer",
  "tokenizerMode",
  "configFormat",
  "runner",
  "convert",
  "chatTemplate",
  "toolCallParser",
  "reasoningParser",
  "attentionBackend",
  "distributedExecutorBackend",
  "mmEncoderTpMode",
] as const;

const objectNames = [
  "hfOverrides",
  "speculativeConfig",
  "compilationConfig",
  "limitMmPerPrompt",
  "defaultChatTemplateKwargs",
  "overrideGenerationConfig",
] as const;

const lists = {
  servedModelName: leaf<JsonValue>(
    'a list of names such as ["my-model"], at least one',
    (value) => Array.isArray(value) && value.length > 0 && value.every((item) => isWord(item)),
  ),
  loraModules: leaf<JsonValue>(
    'a list of "name=path" texts or { name, path } objects, at least one',
    (value) => Array.isArray(value) && value.length > 0 && value.every((item) => isLoraModule(item)),
  ),
} as const;

/** A word that vLLM's parser cannot take for an option. Source: vLLM 0.32 utils/argparse_utils.py parse_args. */
function isWord(value: unknown): value is string {
  return isText(value) && value.trim() !== "" && !value.startsWith("-");
}

function isLoraModule(value: unknown): boolean {
  if (isWord(value)) return /^[^=]+=.+$/.test(value);
  return isRecord(value) && isJsonObject(value) && isWord(value["name"]) && isWord(value["path"]);
}

function rows(
  names: readonly string[],
  kind: EngineKind,
  schema: z.ZodType<JsonValue>,
): (readonly [string, EngineFlag])[] {
  return names.map((name) => [name, { flag: kebabCase(name), kind, schema }] as const);
}

const text = leaf<JsonValue>('text that does not begin with "-"', isWord);
const object = leaf<JsonValue>("an object of plain JSON values", isJsonObject);

/** The 43 flags that have a type of their own: 92 % of all flags that people use. Key: the input's name below `engine`. */
export const ENGINE_FLAGS: ReadonlyMap<string, EngineFlag> = new Map([
  ...Object.entries({ ...wholeNumbers, ...numbers }).flatMap(([name, schema]) =>
    rows([name], "number", schema),
  ),
  ...rows(booleanNames, "bool", boolean()),
  ...rows(textNames, "text", text),
  ...Object.entries(lists).flatMap(([name, schema]) => rows([name], "list", schema)),
  ...rows(objectNames, "json", object),
]);

/** The input's name for a flag: `max-model-len` -> `maxModelLen`; null where it has none. */
export function engineNameOf(flag: string): string | null {
  for (const [name, row] of ENGINE_FLAGS) if (row.flag === flag) return name;
  return ALIASES.get(flag) ?? null;
}

/** Other names of typed flags: second long names and the short ones. Source: vLLM 0.32.0 parser. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["device-memory-utilization", "gpuMemoryUtilization"],
  ["tp", "tensorParallelSize"],
  ["pp", "pipelineParallelSize"],
  ["dp", "dataParallelSize"],
  ["ep", "enableExpertParallel"],
  ["q", "quantization"],
  ["sc", "speculativeConfig"],
  ["cc", "compilationConfig"],
]);
