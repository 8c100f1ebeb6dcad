import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diagnose } from "../../../provider/src/core/diagnose";
import { anchorOf } from "../../../provider/src/core/diagnose/anchors";
import { FAILURE_CAUSES } from "../../../provider/src/core/diagnose/causes";
import { ALL_RULES } from "../../../provider/src/core/diagnose/rules";
import { LIFE_ENDINGS } from "../../../provider/src/core/diagnose/rules/endings";
import { RUNTIME_OOM_RULE } from "../../../provider/src/core/diagnose/rules/memory";

interface Case {
  readonly id: string;
  readonly log: string;
  readonly kernel?: readonly string[];
  readonly exitCode: number | null;
  /** The cause that its words look like, and that it is not. */
  readonly nearMissOf?: string;
  readonly truth: { readonly code: string };
}

const folder = join(import.meta.dirname, "../../cases/diagnosis");
const cases = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name): Case => JSON.parse(readFileSync(join(folder, name), "utf8")));
const rules = [...ALL_RULES, RUNTIME_OOM_RULE];

function nearMisses(cause: string): readonly Case[] {
  return cases.filter(({ nearMissOf, truth }) => nearMissOf === cause && truth.code !== cause);
}

test.each(FAILURE_CAUSES)("%s has a case that fires it, and a near miss that must not", (cause) => {
  expect(cases.filter(({ truth }) => truth.code === cause)).not.toEqual([]);
  expect(nearMisses(cause)).not.toEqual([]);
});

test.each(rules.map((rule) => [rule.cause, rule] as const))(
  "a near miss of %s holds words that this rule looks for",
  (cause, rule) => {
    const words = rule.signs.map((sign) => anchorOf(sign.pattern));
    const isNear = ({ log }: Case): boolean => words.some((text) => log.includes(text));
    expect(nearMisses(cause).filter(isNear)).not.toEqual([]);
  },
);

test("what is concluded from the end alone has a case, and as many near misses of its cause as it has rows", () => {
  const told = cases.map(
    ({ log, exitCode, kernel }) => diagnose({ log, exitCode, signal: null, kernel }).summary,
  );
  expect(LIFE_ENDINGS.map(({ summary }) => summary).filter((summary) => !told.includes(summary))).toEqual([]);
  const lacking = LIFE_ENDINGS.filter(
    ({ cause }) => nearMisses(cause).length < LIFE_ENDINGS.filter((row) => row.cause === cause).length,
  );
  expect(lacking).toEqual([]);
});

test("a near miss names a cause of the closed list", () => {
  const known: readonly string[] = FAILURE_CAUSES;
  expect(cases.filter(({ nearMissOf }) => nearMissOf !== undefined && !known.includes(nearMissOf))).toEqual(
    [],
  );
});
