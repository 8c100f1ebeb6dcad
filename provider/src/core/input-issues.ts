import type { z } from "zod";
import { engineNameOf } from "./engine-flags";
import { HOST_NAMES } from "./input-host";
import { isRecord } from "./input-json";
import { MODEL_NAMES } from "./input-model";
import { isSameName, kebabCase, nearestName } from "./input-names";
import { insteadOfFlag } from "./input-owned-flags";
import { formatPath, type InputPath } from "./input-path";
import { ABOUT_NAME, problemAt, wrongNameProblem, type Problem } from "./input-problem";
import * as server from "./input-server";
import { VLLM_NAMES } from "./input-vllm";
import { NEWEST_FLAGS } from "./vllm-flags-table";

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
  return [
    isAboutName(issue) ? wrongNameProblem(path, found, issue.message) : problemAt(path, found, issue.message),
  ];
}

/** An input that there is not: often a member of one that there is. */
export function unknownInputProblem(name: string, value: unknown, known: readonly string[]): Problem {
  const places = known.some((input) => isSameName(input, name)) ? [] : placesOf(name);
  if (places.length === 0) return unknownNameProblem([name], value, known);
  return wrongNameProblem([name], value, places.join(" or "));
}

function placesOf(name: string): readonly string[] {
  const members = [...NAMES, ["host", HOST_NAMES] as const];
  const places = members.flatMap(([parent, names]) =>
    names.filter((member) => isSameName(member, name)).map((member) => `${parent}.${member}`),
  );
  const flag = kebabCase(name);
  const typed = engineNameOf(flag);
  if (typed !== null) return [...places, `engine.${typed}`];
  return places.length === 0 && NEWEST_FLAGS.has(flag)
    ? [insteadOfFlag(flag) ?? formatPath(["extraArgs", flag])]
    : places;
}

function unknownNameProblem(path: InputPath, value: unknown, known: readonly string[]): Problem {
  const nearest = nearestName(String(path.at(-1)), known);
  const parent = path.slice(0, -1);
  const wanted =
    nearest === null
      ? `one of ${known.join(", ")}`
      : `${formatPath([...parent, nearest])} (the nearest known name)`;
  return wrongNameProblem(path, value, wanted);
}

function isAboutName(issue: z.core.$ZodIssue): boolean {
  return issue.code === "custom" && issue.params === ABOUT_NAME;
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
  ["model", MODEL_NAMES],
  ["vllm", VLLM_NAMES],
  ["listen", Object.keys(server.listenSchema.shape)],
  ["service", Object.keys(server.serviceSchema.shape)],
  ["service.restart", server.RESTART_NAMES],
  ["service.logs", server.LOGS_NAMES],
  ["readiness", Object.keys(server.readinessSchema.shape)],
  ["timeouts", Object.keys(server.timeoutsSchema.shape)],
  ["update", Object.keys(server.updateSchema.shape)],
  ["onDelete", Object.keys(server.onDeleteSchema.shape)],
]);

function namesAt(path: InputPath): readonly string[] {
  return path[0] === "host" ? HOST_NAMES : (NAMES.get(formatPath(path)) ?? []);
}
