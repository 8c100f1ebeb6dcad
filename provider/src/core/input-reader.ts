import type { z } from "zod";
import { issueProblems, unknownInputProblem } from "./input-issues";
import { isRecord } from "./input-json";
import { pathsOverlap } from "./input-path";
import { problemAt, type Problem } from "./input-problem";

/** Hidden inputs of ours and of Pulumi. */
const HIDDEN_INPUTS: ReadonlySet<string> = new Set(["__urn", "__provider", "__secrets"]);

/** Every input of the resource. */
export const INPUT_NAMES = [
  "host",
  "model",
  "kvCacheDtype",
  "quantizationConfigOverrides",
  "configOverrides",
  "vllm",
  "engine",
  "extraArgs",
  "environment",
  "gpus",
  "listen",
  "allowUnauthenticated",
  "apiKey",
  "service",
  "readiness",
  "timeouts",
  "update",
  "onDelete",
] as const;
export type InputName = (typeof INPUT_NAMES)[number];

/** Only the inputs of a record that holds outputs too, such as the recorded state: parseInputs would call the rest unknown names. */
export function inputsOf(record: unknown): unknown {
  if (!isRecord(record)) return record;
  return Object.fromEntries(
    INPUT_NAMES.flatMap((name) => (name in record ? [[name, record[name]] as const] : [])),
  );
}

/** Reads one input after the other and keeps all problems. */
export class InputReader {
  readonly problems: Problem[] = [];
  readonly #inputs: Readonly<Record<string, unknown>>;

  constructor(
    known: unknown,
    private readonly unknowns: readonly string[],
  ) {
    this.#inputs = isRecord(known) ? known : {};
    if (!isRecord(known)) this.problems.push(problemAt([], known, "an object of inputs"));
    for (const name of Object.keys(this.#inputs)) {
      if (HIDDEN_INPUTS.has(name) || INPUT_NAMES.some((known) => known === name)) continue;
      this.problems.push(unknownInputProblem(name, this.#inputs[name], INPUT_NAMES));
    }
  }

  /** undefined: not given, wrong, or unknown. */
  optional<T>(name: InputName, schema: z.ZodType<T>): T | undefined {
    const value = this.#inputs[name];
    return value === undefined || value === null ? undefined : this.required(name, schema);
  }

  required<T>(name: InputName, schema: z.ZodType<T>): T | undefined {
    const result = schema.safeParse(this.#inputs[name]);
    if (result.success) return result.data;
    for (const problem of issueProblems(name, this.#inputs[name], result.error)) this.add(problem);
    return undefined;
  }

  /** What is missing only because it is not known yet is no problem. */
  add(problem: Problem): void {
    if (!this.unknowns.some((path) => pathsOverlap(path, problem.path))) this.problems.push(problem);
  }

  isSettled(name: string): boolean {
    return ![...this.unknowns, ...this.problems.map((problem) => problem.path)].some((path) =>
      pathsOverlap(path, name),
    );
  }
}
