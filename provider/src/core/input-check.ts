import { isRecord } from "./input-json";
import { parsePath, type InputPath } from "./input-path";
import type { Problem } from "./input-problem";
import { INPUT_NAMES } from "./input-reader";
import { UNKNOWN_VALUE } from "./input-unknowns";
import { parseInputs } from "./parse-inputs";

/** One thing that is wrong with the inputs of a server. */
export interface InputProblem {
  /** Where it stands: names and indexes of lists, outermost first; [] = the inputs as a whole. */
  readonly path: readonly (string | number)[];
  /** What stands there, in words, without secrets: "16000", "nothing". */
  readonly found: string;
  /** What has to stand there, in words. */
  readonly wanted: string;
}

export interface InputCheck {
  /** These are only some of a server's inputs: what is not there is not judged, and neither is what needs it. Default false. */
  readonly isPart?: boolean;
  /** There are secrets among these values, nobody knows where: no text is told that stands in them. Default false. */
  readonly holdsSecrets?: boolean;
}

/**
 * Everything that is wrong with these inputs of a VllmServer, as `preview` and `up` would refuse them; [] when nothing is. For programs that
 * take inputs from somewhere else than their own text, and want to say at that place what is wrong, of all servers at once.
 * @param inputs plain JSON; null and undefined inputs are not given
 */
export function inputProblems(
  inputs: unknown,
  { isPart = false, holdsSecrets = false }: InputCheck = {},
): readonly InputProblem[] {
  const parsed = parseInputs(isPart ? asPart(inputs) : inputs);
  if (parsed.ok) return [];
  return parsed.problems.map((problem) => told(problem, inputs, holdsSecrets));
}

function told(
  { path: written, found, wanted }: Problem,
  inputs: unknown,
  holdsSecrets: boolean,
): InputProblem {
  const path = parsePath(written);
  if (!holdsSecrets || !holdsText(valueAt(inputs, path))) return { path, found, wanted };
  // The hints behind "here" repeat what was found.
  return { path, found: "text (not shown)", wanted: wanted.replace(/, here .*$/s, "") };
}

/** What is missing is unknown, as an output of another resource is in a preview; also the name of a host or model of which the rest is there. */
function asPart(inputs: unknown): unknown {
  if (!isRecord(inputs)) return inputs;
  const missing = INPUT_NAMES.filter((name) => inputs[name] === undefined || inputs[name] === null);
  return {
    ...inputs,
    ...Object.fromEntries(missing.map((name) => [name, UNKNOWN_VALUE])),
    ...completed("host", inputs["host"], ["host"]),
    ...completed("model", inputs["model"], ["repo", "path"]),
  };
}

function completed(
  name: string,
  value: unknown,
  leading: readonly string[],
): Readonly<Record<string, unknown>> {
  const [first] = leading;
  if (first === undefined || !isRecord(value) || leading.some((member) => (value[member] ?? null) !== null))
    return {};
  return { [name]: { ...value, [first]: UNKNOWN_VALUE } };
}

function valueAt(root: unknown, path: InputPath): unknown {
  return path.reduce<unknown>((value, part) => {
    if (Array.isArray(value)) return typeof part === "number" ? value[part] : undefined;
    return isRecord(value) && Object.hasOwn(value, part) ? value[String(part)] : undefined;
  }, root);
}

function holdsText(value: unknown): boolean {
  return typeof value === "string" || (Array.isArray(value) && value.some(holdsText));
}
