import { ENGINE_FLAGS, type EngineFlag } from "./engine-flags";
import { isJsonList, isMembers } from "./input-json";
import type { JsonValue } from "./json";
import type { Spec } from "./spec";
import { yamlFlag } from "./vllm-command-yaml";
import type { FlagKind, FlagKinds } from "./vllm-flags-table";

export { serverEnvironment } from "./vllm-command-environment";
export type { FlagKinds } from "./vllm-flags-table";

export interface ServeConfigFacts {
  /** What to pass as --kv-cache-dtype; null: nothing. */
  readonly kvCacheDtypeFlag: string | null;
  readonly servedModelNames: readonly string[];
  /** What the server answers as system_fingerprint; null: this version cannot. */
  readonly fingerprint: string | null;
  /** null: this version has no shutdown timeout. */
  readonly shutdownTimeoutSeconds: number | null;
  /** Flags of the installed version; null or a missing flag: the value decides how it is written. */
  readonly flagKinds: FlagKinds | null;
  /** Home folder of the host's user, for paths that begin with ~/; without it they stay as they are. */
  readonly home?: string | undefined;
}

/** One flag as it is given to vLLM. */
export interface ServeFlag {
  /** Long name without dashes in front. */
  readonly flag: string;
  readonly value: JsonValue;
  readonly kind: FlagKind;
}

/**
 * Text of the file for `vllm serve MODEL --config FILE`: one key per flag, sorted, strings quoted. No secret is in it.
 * The model is not in it either: it has to be the positional word, so that a stray word can never become the model.
 */
export function renderServeConfig(spec: Spec, facts: ServeConfigFacts): string {
  return serveFlags(spec, facts)
    .map(({ flag, value, kind }) => yamlFlag(flag, value, kind))
    .join("");
}

/** Every flag that a server is started with, sorted by name. */
export function serveFlags(spec: Spec, facts: ServeConfigFacts): readonly ServeFlag[] {
  const flags = new Map<string, ServeFlag>();
  const set = (flag: string, value: JsonValue, kind: FlagKind): void => {
    flags.set(flag, {
      flag,
      value: withHome(flag, value, facts.home),
      kind: known(facts.flagKinds, flag) ?? kind,
    });
  };
  for (const [flag, value] of Object.entries(spec.extraArgs)) set(flag, value, "unknown");
  for (const [name, value] of Object.entries(spec.engine)) {
    const row = ENGINE_FLAGS.get(name);
    if (row !== undefined) set(row.flag, value, kindOf(row));
  }
  set("host", spec.listen.address, "string");
  set("port", spec.listen.port, "int");
  set("served-model-name", facts.servedModelNames, "list");
  set("kv-cache-dtype", facts.kvCacheDtypeFlag, "enum");
  set("shutdown-timeout", facts.shutdownTimeoutSeconds, "int");
  set("fingerprint-mode", facts.fingerprint === null ? null : "custom", "enum");
  set("fingerprint-value", facts.fingerprint, "string");
  return [...flags.values()].sort((first, second) => (first.flag < second.flag ? -1 : 1));
}

function known(kinds: FlagKinds | null, flag: string): FlagKind | null {
  const kind = kinds?.get(flag);
  return kind === undefined || kind === "unknown" ? null : kind;
}

function kindOf(row: EngineFlag): FlagKind {
  switch (row.kind) {
    case "number":
      return "float";
    case "bool":
      return "bool";
    case "text":
      return "string";
    case "list":
      return "list";
    case "json":
      return "json";
    default:
      return row.kind satisfies never;
  }
}

/** Flags whose value can be a path on the host, which vLLM itself does not expand ~ in -> the member of an object that holds it. */
const PATH_FLAGS: ReadonlyMap<string, string | null> = new Map([
  ["allowed-local-media-path", null],
  ["chat-template", null],
  ["download-dir", null],
  ["generation-config", null],
  ["hf-config-path", null],
  ["log-config-file", null],
  ["lora-modules", "path"],
  ["mm-encoder-fp8-scale-path", null],
  ["mm-encoder-fp8-scale-save-path", null],
  ["reasoning-parser-plugin", null],
  ["spec-model", null],
  ["speculative-config", "model"],
  ["tokenizer", null],
  ["tool-parser-plugin", null],
]);

function withHome(flag: string, value: JsonValue, home: string | undefined): JsonValue {
  const member = PATH_FLAGS.get(flag);
  if (home === undefined || member === undefined) return value;
  if (typeof value === "string")
    return value.replace(/^(|[^=/]*=)~\//, (_, name: string) => `${name}${home}/`);
  if (isJsonList(value)) return value.map((item) => withHome(flag, item, home));
  const path = member !== null && isMembers(value) ? value[member] : undefined;
  if (member === null || path === undefined || !isMembers(value)) return value;
  return { ...value, [member]: withHome(flag, path, home) };
}
