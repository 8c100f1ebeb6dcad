import type { Change } from "./diff-compare";
import { isPlaceOfHost } from "./diff-effects";
import { HIDDEN, NOT_SET } from "./diff-values";
import { isRecord } from "./input-json";
import { formatPath, pathsOverlap, type InputPath } from "./input-path";
import { secretProblem, type Problem } from "./input-problem";

/**
 * Where the program marked a value secret that is none by itself: paths such as `engine.chatTemplate`. The hooks of a dynamic provider
 * get every value in plain, so the program tells them in a hidden input.
 */
export type SecretMarks = readonly string[];

export function readMarks(value: unknown): SecretMarks {
  return Array.isArray(value) ? value.filter((path): path is string => typeof path === "string") : [];
}

/** The problem without the value, also where what is wanted repeats it. */
export function withoutMarkedValue(problem: Problem, marks: SecretMarks): Problem {
  const { path } = problem;
  if (problem.isSecret || !isMarked(path, marks)) return problem;
  return secretProblem(path, problem.wanted.replace(/, here .*$/s, ""));
}

export function withoutMarkedValues(change: Change, marks: SecretMarks): Change {
  const isWhole = change.path === "host" && marks.some(isPlaceOfHost);
  if (change.isSecret || !(isWhole || isMarked(change.path, marks))) return change;
  const hidden = (text: string): string => (text === NOT_SET ? NOT_SET : HIDDEN);
  return { path: change.path, from: hidden(change.from), to: hidden(change.to), isSecret: true };
}

/** Every text that stands at a mark or below one. */
export function markedTexts(inputs: unknown, marks: SecretMarks, path: InputPath = []): readonly string[] {
  if (marks.length === 0) return [];
  if (typeof inputs === "string") return isMarked(formatPath(path), marks) ? [inputs] : [];
  if (Array.isArray(inputs))
    return inputs.flatMap((item: unknown, index) => markedTexts(item, marks, [...path, index]));
  if (!isRecord(inputs)) return [];
  return Object.entries(inputs).flatMap(([name, value]) => markedTexts(value, marks, [...path, name]));
}

function isMarked(path: string, marks: SecretMarks): boolean {
  return path !== "" && marks.some((mark) => pathsOverlap(mark, path));
}
