import { z } from "zod";
import { runDriver } from "./vllm-driver";

export { isRealVllmThere, REAL_VLLM } from "./vllm-driver";

export interface ParserCase {
  /** Text of the YAML file; null: there is none. */
  readonly yaml: string | null;
  /** Words behind `vllm serve`; {file} is the path of the YAML file. */
  readonly words: readonly string[];
}

export interface ParserAnswer {
  /** Last line of what the parser said when it refused. */
  readonly error: string | null;
  /** Every value, defaults too, by its Python name. */
  readonly values: Readonly<Record<string, unknown>>;
}

const valuesSchema = z.record(z.string(), z.unknown());
const answersSchema = z.object({
  defaults: valuesSchema,
  answers: z.array(z.object({ error: z.string().nullable(), values: valuesSchema })),
  shortNames: z.record(z.string(), z.string()),
  speculativeMembers: z.array(z.string()),
});

/** What the parser says of itself. */
export interface ParserNames {
  /** `-tp` -> `tensor-parallel-size`. */
  readonly shortNames: Readonly<Record<string, string>>;
  readonly speculativeMembers: readonly string[];
}

/** Asks the real parser all cases in one process (about 15 s, whatever their number). */
export function askParser(cases: readonly ParserCase[]): readonly ParserAnswer[] {
  return askParserWithNames(cases).answers;
}

export function askParserWithNames(
  cases: readonly ParserCase[],
): ParserNames & { readonly answers: readonly ParserAnswer[] } {
  const { answers, defaults, ...names } = answersSchema.parse(runDriver("parser_driver.py", cases));
  return {
    ...names,
    answers: answers.map(({ error, values }) => ({ error, values: { ...defaults, ...values } })),
  };
}
