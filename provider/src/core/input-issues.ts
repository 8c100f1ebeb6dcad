import type { z } from "zod";
import { HOST_NAMES } from "./input-host";
import { isRecord } from "./input-json";
import { nearestName } from "./input-names";
import { formatPath, type InputPath } from "./input-path";
import { problemAt, type Problem } from "./input-problem";
import { listenSchema, readinessSchema, serviceSchema, timeoutsSchema, vllmSchema } from "./input-server";

/** What zod says of one input -> problems at property paths. Every schema's error message is what is wanted there. */
export function issueProblems(input: string, value: unknown, error: z.ZodError): readonly Problem[] {
  return error.issues.flatMap((issue) => problemsOf(issue, [input], value));
}

function problemsOf(issue: z.core.$ZodIssue, start: InputPath, root: unknown): readonly Problem[] {
  const path = [...start, ...issue.path];
  const found = valueAt(root, issue.path);
  if (issue.code === "unrecognized_keys") {
    const known = namesAt(path);
    return issue.keys.map((key) => unknownNameProblem([...path, key], valueAt(found, [key]), known));
  }
  return [problemAt(path, found, issue.message)];
}

export function unknownNameProblem(path: InputPath, value: unknown, known: readonly string[]): Problem {
  const nearest = nearestName(String(path.at(-1)), known);
  const parent = path.slice(0, -1);
  const wanted =
    nearest === null
      ? `one of ${known.join(", ")}`
      : `${formatPath([...parent, nearest])} (the nearest known name)`;
  return problemAt(path, value, wanted);
}

function valueAt(root: unknown, path: InputPath): unknown {
  let value = root;
  for (const part of path) {
    if (Array.isArray(value) && typeof part === "number") value = value[part];
    else
      value =
        isRecord(value) && typeof part === "string" && Object.hasOwn(value, part) ? value[part] : undefined;
  }
  return value;
}

/** Names below each input that is an object of fixed members. */
const NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ["model", ["path"]],
  ["vllm", Object.keys(vllmSchema.shape)],
  ["listen", Object.keys(listenSchema.shape)],
  ["service", Object.keys(serviceSchema.shape)],
  ["service.restart", ["max", "withinSeconds", "delaySeconds"]],
  ["readiness", Object.keys(readinessSchema.shape)],
  ["timeouts", Object.keys(timeoutsSchema.shape)],
]);

function namesAt(path: InputPath): readonly string[] {
  return path[0] === "host" ? HOST_NAMES : (NAMES.get(formatPath(path)) ?? []);
}
