import { canonicalJson, listedGpuCount } from "./identity";
import { servedModelNames } from "./derived-outputs";
import { isRecord } from "./input-json";
import { formatPath, isSecretPath, type InputPath } from "./input-path";
import type { HostSpec, Spec } from "./spec";

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
  const { gpus, engine, host, ...rest } = spec;
  return {
    ...rest,
    host: comparableHost(host),
    engine: { ...engine, servedModelName: servedModelNames(spec) },
    gpus: gpus.kind === "list" ? gpus.ids : listedGpuCount(gpus),
  };
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
  const isSecret = isSecretPath(path);
  return [{ path: formatPath(path), from: shown(from, isSecret), to: shown(to, isSecret), isSecret }];
}

const SHOWN_CHARACTERS = 60;
export const NOT_SET = "(not set)";

function shown(value: unknown, isSecret: boolean): string {
  if (value === undefined) return NOT_SET;
  if (isSecret) return value === null ? NOT_SET : "(secret)";
  const text = typeof value === "string" ? value : canonicalJson(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text;
}
