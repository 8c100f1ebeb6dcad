import { canonicalJson, listedGpuCount } from "./identity";
import { servedModelNames } from "./derived-outputs";
import { isRecord } from "./input-json";
import { HIDDEN, NOT_SET, shownPair } from "./diff-values";
import { formatPath, isSecretPath, type InputPath } from "./input-path";
import type { HostSpec, ModelSpec, Spec, VllmSpec } from "./spec";
import { credentialsIn, withoutCredentials } from "./url-credentials";

/** One input that differs. Values are as text, ready to be shown. */
export interface Change {
  readonly path: string;
  readonly from: string;
  readonly to: string;
  /** Then from and to only tell whether there is a value. */
  readonly isSecret: boolean;
}

/**
 * A spec as its inputs are written, with everything that means the same said the same way: defaults filled in, derived GPU counts as
 * numbers, the served name spelled out. Two specs that compare equal here start the same server.
 */
export function comparable(spec: Spec): Readonly<Record<string, unknown>> {
  const { gpus, engine, host, model, vllm, ...rest } = spec;
  return {
    ...rest,
    host: comparableHost(host),
    model: comparableModel(model),
    vllm: comparableVllm(vllm),
    engine: { ...engine, servedModelName: servedModelNames(spec) },
    gpus: gpus.kind === "list" ? gpus.ids : listedGpuCount(gpus),
  };
}

/** Which place is one thing, who may go there another: it alone changes nothing that runs. */
function comparableModel({ kind: _kind, ...model }: ModelSpec): Readonly<Record<string, unknown>> {
  return given({ ...model, ...("endpoint" in model ? withCredentials("endpoint", model.endpoint) : {}) });
}

function comparableVllm({ kind: _kind, ...vllm }: VllmSpec): Readonly<Record<string, unknown>> {
  if ("executable" in vllm) return given(vllm);
  const { indexUrl, extraIndexUrls, packages, ...rest } = vllm;
  return given({
    ...rest,
    ...withCredentials("indexUrl", indexUrl),
    ...withCredentials("extraIndexUrls", extraIndexUrls),
    ...withCredentials("packages", [...packages].sort()),
  });
}

/** Name of what is compared in place of credentials in a URL: `vllm.indexUrlCredentials`. */
const CREDENTIALS = "Credentials";

function withCredentials(
  name: string,
  value: string | readonly string[] | null,
): Readonly<Record<string, unknown>> {
  if (value === null) return {};
  const texts = typeof value === "string" ? [value] : value;
  const plain = typeof value === "string" ? withoutCredentials(value) : value.map(withoutCredentials);
  return { [name]: plain, [`${name}${CREDENTIALS}`]: texts.flatMap(credentialsIn) };
}

/** What is not given is not there. */
function given(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(members).filter(
      ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
    ),
  );
}

function comparableHost({
  perDialTimeoutSeconds,
  proxy,
  ...rest
}: HostSpec): Readonly<Record<string, unknown>> {
  return {
    ...rest,
    perDialTimeout: perDialTimeoutSeconds,
    proxy: proxy === null ? null : comparableHost(proxy),
  };
}

/** Every leaf that differs, at its input path. Objects are compared member by member, lists as a whole. */
export function changesBetween(from: unknown, to: unknown, path: InputPath): readonly Change[] {
  if (isRecord(from) && isRecord(to)) {
    const names = [...new Set([...Object.keys(from), ...Object.keys(to)])].sort();
    return names.flatMap((name) => changesBetween(from[name], to[name], [...path, name]));
  }
  if (from === to || (from !== undefined && to !== undefined && canonicalJson(from) === canonicalJson(to)))
    return [];
  return [
    isSecretPath(path)
      ? hiddenChange(path, from, to)
      : { path: formatPath(path), ...shownPair(from, to), isSecret: false },
  ];
}

function hiddenChange(path: InputPath, from: unknown, to: unknown): Change {
  const hidden = (value: unknown): string => (value === undefined || value === null ? NOT_SET : HIDDEN);
  return { path: formatPath(path), from: hidden(from), to: hidden(to), isSecret: true };
}
