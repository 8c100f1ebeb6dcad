import { z } from "zod";
import { nearestName } from "./input-names";

/** What a value has to be, in words; a function where the words depend on what was found. */
type Wanted = string | ((value: unknown) => string);

/** A schema of one value. Its error message is only what is wanted; parse-inputs.ts composes the rest. */
export function leaf<T>(wanted: Wanted, isValid: (value: unknown) => boolean): z.ZodType<T> {
  return z.custom<T>(isValid, {
    error: (issue) => (typeof wanted === "string" ? wanted : wanted(issue.input)),
  });
}

/** Longest time that can be given: seven days. Timers and clocks take it on both ends, in milliseconds too. */
export const MOST_SECONDS = 604_800;

export function isInteger(value: unknown, least: number, most = Number.MAX_SAFE_INTEGER): value is number {
  return Number.isSafeInteger(value) && typeof value === "number" && value >= least && value <= most;
}

/** Text that reaches a process whole: no NUL, no half surrogates. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && !value.includes("\0") && !/\p{Surrogate}/u.test(value);
}

export function integer(what: string, least: number, most?: number): z.ZodType<number> {
  const range =
    most === undefined ? `of at least ${String(least)}` : `from ${String(least)} to ${String(most)}`;
  return leaf(
    (value) => `a whole number ${range} (${what})${numberHint(value)}`,
    (value) => isInteger(value, least, most),
  );
}

export function number(what: string, isValid: (value: number) => boolean): z.ZodType<number> {
  return leaf(
    (value) => `a number: ${what}${numberHint(value)}`,
    (value) => typeof value === "number" && Number.isFinite(value) && isValid(value),
  );
}

export function boolean(): z.ZodType<boolean> {
  return leaf(
    (value) => (value === "true" || value === "false" ? `${value} without quotes` : "true or false"),
    (value) => typeof value === "boolean",
  );
}

/** One of a few names; the nearest one is told. */
export function choice<T extends string>(names: readonly T[]): z.ZodType<T> {
  const all = `one of ${names.map((name) => JSON.stringify(name)).join(", ")}`;
  return leaf(
    (value) => {
      const nearest = typeof value === "string" ? nearestName(value, names) : null;
      return nearest === null ? all : `${all}, here ${JSON.stringify(nearest)}`;
    },
    (value) => names.some((name) => name === value),
  );
}

/** Absolute path, or one below the home folder of the host's user. */
export function hostPath(what: string): z.ZodType<string> {
  return leaf(`${what}: an absolute path on the host, or one that begins with ~/`, isHostPath);
}

function isHostPath(value: unknown): boolean {
  if (!isText(value) || !/^~?\//.test(value) || /\s$|[\n\r]/.test(value)) return false;
  const last = value.split("/").findLast((part) => part !== "" && part !== ".");
  return last !== undefined && last !== "~" && last !== "..";
}

/** With or without credentials in front of the host. */
export function httpUrl(what: string): z.ZodType<string> {
  return leaf(`${what}: http:// or https:// and a host`, (value) => isUrl(value, ["http:", "https:"]));
}

export function indexUrl(): z.ZodType<string> {
  return leaf("address of a package index: https://, http:// or file://", (value) =>
    isUrl(value, ["http:", "https:", "file:"]),
  );
}

function isUrl(value: unknown, protocols: readonly string[]): boolean {
  if (!isText(value) || !/^[a-z]+:\/\/[^\s\p{Cc}]+$/u.test(value) || !URL.canParse(value)) return false;
  return protocols.includes(new URL(value).protocol);
}

/** `, so 16000` for text that means a number: quoted, or with vLLM's own suffixes. Source: vLLM 0.32 utils/argparse_utils.py human_readable_int. */
export function numberHint(value: unknown): string {
  const meant = typeof value === "string" ? numberMeant(value) : null;
  return meant === null ? "" : `, here ${String(meant)}`;
}

const SUFFIX_FACTORS: Readonly<Record<string, number>> = {
  k: 1e3,
  m: 1e6,
  g: 1e9,
  t: 1e12,
  K: 2 ** 10,
  M: 2 ** 20,
  G: 2 ** 30,
  T: 2 ** 40,
};

function numberMeant(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)([kKmMgGtT]?)$/.exec(text.trim());
  if (match === null) return null;
  const factor = match[2] === undefined || match[2] === "" ? 1 : (SUFFIX_FACTORS[match[2]] ?? 1);
  return Number(match[1]) * factor;
}
