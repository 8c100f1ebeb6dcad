import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { askStandInParser } from "../support/stand-in/ask-parser";
import { askParser, isRealVllmThere, type ParserAnswer, type ParserCase } from "../support/vllm-parser";
import { TRAPS } from "./parser-traps";

const cases: readonly ParserCase[] = [
  ...(JSON.parse(
    readFileSync(join(import.meta.dirname, "contract-parser-cases.json"), "utf8"),
  ) as readonly ParserCase[]),
  ...TRAPS,
];

/** What differs from the defaults. An option with a class of its own is that object in vLLM and JSON in the stand-in. */
function comparable({ error, values }: ParserAnswer, defaults: ParserAnswer["values"]): unknown {
  const changed = Object.entries(values).filter(
    ([name, value]) => !name.endsWith("_config") && JSON.stringify(value) !== JSON.stringify(defaults[name]),
  );
  return { error: error === null ? null : refusal(error), values: Object.fromEntries(changed) };
}

/** The program's name is the driver's, and each YAML reader words its own errors. */
function refusal(error: string): string {
  const text = error.replace(/^\S+( serve)?: error: /, "");
  return /^(ParserError|ScannerError|YamlError): /.test(text) ? "no YAML" : text;
}

/** Asked first, so that its answer shows the defaults. */
const NOTHING: ParserCase = { yaml: null, words: [] };

function answersOf(ask: (cases: readonly ParserCase[]) => readonly ParserAnswer[]): unknown {
  const [nothing, ...answers] = ask([NOTHING, ...cases]);
  return cases.map(({ yaml, words }, index) => {
    const answer = answers[index];
    return { yaml, words, answer: answer === undefined ? null : comparable(answer, nothing?.values ?? {}) };
  });
}

describe.skipIf(!isRealVllmThere)("the stand-in's parser", () => {
  it("answers every case as the real one does", () => {
    expect(answersOf(askStandInParser)).toEqual(answersOf(askParser));
  });
});
