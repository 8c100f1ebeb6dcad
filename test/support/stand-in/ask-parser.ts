import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ParserAnswer, ParserCase } from "../vllm-parser";

/** As askParser of vllm-parser.ts asks the real one: the stand-in's answers to the same questions. */
export function askStandInParser(cases: readonly ParserCase[]): readonly ParserAnswer[] {
  const folder = mkdtempSync(join(tmpdir(), "stand-in-parser-"));
  try {
    const [questions, answers] = [join(folder, "cases.json"), join(folder, "answers.json")];
    writeFileSync(questions, JSON.stringify(cases));
    execFileSync("python3", ["-B", join(import.meta.dirname, "parse_cases.py"), questions, answers]);
    const said = JSON.parse(readFileSync(answers, "utf8")) as {
      readonly defaults: Readonly<Record<string, unknown>>;
      readonly answers: readonly ParserAnswer[];
    };
    return said.answers.map(({ error, values }) => ({ error, values: { ...said.defaults, ...values } }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
