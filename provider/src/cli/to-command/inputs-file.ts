import { parse } from "yaml";
import { isRecord } from "../../core/input-json";
import { parseInputs } from "../../core/parse-inputs";
import type { Spec } from "../../core/spec";
import { TextFailure, textOf } from "../text-source";

/** Stands in for a host, which the line has none of. */
const SOME_HOST = "host";

/** The declaration in a file of YAML or JSON. Fails with TextFailure, which tells all that is wrong with it. */
export async function declarationIn(file: string): Promise<Spec> {
  const inputs = inputsOf(parsed(await textOf(file, "inputs of a VllmServer"), file));
  const result = parseInputs({ host: SOME_HOST, ...inputs });
  if (result.ok) return result.spec;
  const lines = result.problems.map(({ message }) => `\n  ${message}`);
  throw new TextFailure(`Cannot make a command of ${nameOf(file)}:${lines.join("")}`);
}

function parsed(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    const why = error instanceof Error ? (error.message.split("\n")[0] ?? "") : "";
    throw new TextFailure(`Cannot read ${nameOf(file)}: ${why}, need YAML or JSON`, { cause: error });
  }
}

/** The inputs themselves, or the only ones in `{"inputs": {...}}` or `NAME: {...}`. */
function inputsOf(content: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(content)) return {};
  if (isRecord(content["inputs"])) return content["inputs"];
  const [only, ...others] = Object.values(content);
  return others.length === 0 && isRecord(only) && "model" in only ? only : content;
}

function nameOf(file: string): string {
  return file === "-" ? "standard input" : file;
}
