import { servedModelNames } from "../derived-outputs";
import { isSecretName } from "../input-path";
import { shellWord } from "../ssh-command";
import type { Spec } from "../spec";
import { holdsCredentials } from "../url-credentials";
import { serveFlags } from "../vllm-command";
import { judgingTable } from "../vllm-flags";
import { serveWords } from "./serve-words";

/** The command line of a declaration, and what it cannot say. */
export interface CommandLine {
  /** One command of bash on several lines, with a line break at its end. */
  readonly text: string;
  /** Variables that it takes from the shell, because they are secrets. */
  readonly secrets: readonly string[];
  /** What a resource does besides, and this line does not. */
  readonly remarks: readonly string[];
}

/** What stands for a secret in inputs that were printed without it. */
const MARK = "<secret>";

/** The `vllm serve` line that a declaration runs, for trying it by hand on the host. No secret is in it. */
export function commandLine(spec: Spec): CommandLine {
  const secrets = new Set<string>();
  const take = (name: string): string => {
    secrets.add(name);
    return `"\${${name}:?}"`;
  };
  const variables = variablesOf(spec).map(([name, value]) => {
    const isSecret = value === MARK || isSecretName(name) || holdsCredentials(value);
    return `${name}=${isSecret ? take(name) : shellWord(value)}`;
  });
  const words = wordsOf(spec).map((flag) => flag.map((word) => quoted(word, take)).join(" "));
  const model = shellWord(spec.model.kind === "local" ? spec.model.path : spec.model.repo);
  const first = [...variables, `${executable(spec)} serve ${model}`];
  return {
    text: `${[...first, ...words.map((each) => `  ${each}`)].join(" \\\n")}\n`,
    secrets: [...secrets],
    remarks: remarksOf(spec),
  };
}

function variablesOf(spec: Spec): readonly (readonly [string, string])[] {
  const { model, gpus, environment, apiKey } = spec;
  const hub: [string, string][] =
    model.kind === "local"
      ? []
      : [
          ...(model.token === null ? [] : [["HF_TOKEN", MARK] as [string, string]]),
          ...(model.endpoint === null ? [] : [["HF_ENDPOINT", model.endpoint] as [string, string]]),
          ...(model.cacheDir === null ? [] : [["HF_HUB_CACHE", model.cacheDir] as [string, string]]),
        ];
  const devices: [string, string][] =
    gpus.kind === "list"
      ? [
          ["CUDA_DEVICE_ORDER", "PCI_BUS_ID"],
          ["CUDA_VISIBLE_DEVICES", gpus.ids.map(String).join(",")],
        ]
      : [];
  return [
    ...devices,
    ...hub,
    ...Object.entries(environment),
    ...(apiKey === null ? [] : [["VLLM_API_KEY", MARK] as [string, string]]),
  ];
}

function executable({ vllm }: Spec): string {
  return vllm.kind === "executable" && vllm.executable !== null ? shellWord(vllm.executable) : "vllm";
}

function wordsOf(spec: Spec): readonly (readonly string[])[] {
  const { model, vllm } = spec;
  const table = judgingTable(vllm.kind === "environment" ? vllm.version : null);
  const kinds =
    table === null ? null : new Map([...table.rows].map(([name, { kind }]) => [name, kind] as const));
  const flags = serveFlags(spec, {
    kvCacheDtypeFlag: spec.kvCacheDtype === "auto" ? null : spec.kvCacheDtype,
    servedModelNames: servedModelNames(spec),
    fingerprint: null,
    shutdownTimeoutSeconds: null,
    flagKinds: kinds,
  });
  const revision = model.kind === "hub" && model.revision !== null ? [["--revision", model.revision]] : [];
  return [...revision, ...flags.map(serveWords).filter((words) => words.length > 0)];
}

/** A secret in the middle of a word is taken from the shell as well. */
function quoted(word: string, take: (name: string) => string): string {
  if (!word.includes(MARK)) return shellWord(word);
  return word
    .split(MARK)
    .map((part) => (part === "" ? "" : shellWord(part)))
    .join(take("SECRET"));
}

function remarksOf({ configOverrides, quantizationConfigOverrides, vllm, gpus }: Spec): readonly string[] {
  const remarks: string[] = [];
  const overrides = [
    ...(Object.keys(quantizationConfigOverrides).length > 0 ? ["quantizationConfigOverrides"] : []),
    ...(Object.keys(configOverrides).length > 0 ? ["configOverrides"] : []),
  ];
  if (overrides.length > 0)
    remarks.push(
      `${overrides.join(" and ")}: the resource serves a patched copy of the checkpoint's config, this line the checkpoint as it is`,
    );
  if (vllm.kind === "environment")
    remarks.push(
      `vllm: the resource runs ${vllm.version === null ? "the newest" : vllm.version} of an environment of its own (docs/what-lies-where.md), this line the vllm of the login PATH`,
    );
  if (gpus.kind === "derived")
    remarks.push(
      "gpus: the resource takes free ones, this line the first ones: choose with CUDA_VISIBLE_DEVICES",
    );
  return remarks;
}
