import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { diagnose, fatalPatterns } from "../../provider/src/core/diagnose";

interface Case {
  readonly id: string;
  readonly vllmVersion: string | null;
  readonly log: string;
  /** Lines of the kernel's log, of the time of the start. */
  readonly kernel?: readonly string[];
  readonly exitCode: number | null;
  readonly truth: {
    readonly code: string;
    readonly remedy: string;
    readonly evidence: string;
    readonly values: Readonly<Record<string, string | number>>;
  };
}

const folder = join(import.meta.dirname, "diagnosis");
const cases = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name): Case => JSON.parse(readFileSync(join(folder, name), "utf8")));

function diagnosed(one: Case, log = one.log): ReturnType<typeof diagnose> {
  const { exitCode, vllmVersion, kernel } = one;
  return diagnose({ log, exitCode, signal: null, vllmVersion, kernel });
}

/** The error text of a line, without the prefixes that differ between its repetitions. */
function errorText(line: string): string {
  return line
    .replace(/^\([^)]*pid=[^)]*\) ?/, "")
    .replace(/^(?:ERROR|WARNING|INFO|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d (?:\[[^\]]*\]|\S+:\d+\]) ?/, "")
    .trim();
}

/** Flags and variables a remedy names; a right answer names one of them. */
function namesIn(remedy: string): readonly string[] {
  return remedy.match(/--[a-z][\w-]+|\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b/g) ?? [];
}

describe.each(cases.map((one) => [one.id, one] as const))("%s", (_id, one) => {
  const found = diagnosed(one);

  test("names the cause with its values", () => {
    expect(found.cause).toBe(one.truth.code);
    expect(found.values).toMatchObject(one.truth.values);
  });

  test("quotes the proving line as it stands", () => {
    if (one.truth.evidence === "") expect(found.evidence).toBeNull();
    else if (found.place === "kernel") expect(one.kernel).toContain(found.evidence);
    else expect(one.log.split("\n")[(found.logLine ?? 0) - 1]?.trimEnd()).toBe(found.evidence);
    expect(errorText(found.evidence ?? "")).toBe(errorText(one.truth.evidence));
  });

  test("names a flag, variable or host action of the right remedy", () => {
    const names = namesIn(one.truth.remedy);
    if (["NO_FAILURE", "UNKNOWN"].includes(one.truth.code)) expect(found.change).toBeNull();
    else if (names.length === 0) expect(found.change).toMatch(/\S/);
    else expect(names.filter((name) => found.change?.includes(name) === true)).not.toEqual([]);
  });

  test("a fatal line is only in a log of a failed start", () => {
    const fatal = fatalPatterns().map((pattern) => new RegExp(pattern));
    const lines = one.log.split("\n").filter((line) => fatal.some((pattern) => pattern.test(line)));
    if (one.truth.code === "NO_FAILURE") expect(lines).toEqual([]);
  });
});
