import { formatPath, isSecretPath, type InputPath } from "./input-path";

/** One thing that is wrong with the inputs, at its property path. */
export interface Problem {
  /** `engine.maxModelLen`, `extraArgs["stream-interval"]`; "" = the inputs as a whole. */
  readonly path: string;
  /** What stands there, without secrets. */
  readonly found: string;
  readonly wanted: string;
  /** The whole sentence: path, found and wanted. */
  readonly message: string;
  /** Report it without a property name: Pulumi would print the value beside it. */
  readonly isSecret: boolean;
}

export function problemAt(path: InputPath, value: unknown, wanted: string): Problem {
  const isSecret = isSecretPath(path) || holdsPassword(value);
  const found = isSecret
    ? `${kindOf(value)}${value === undefined || value === null ? "" : " (not shown)"}`
    : describeFound(value);
  return composed(formatPath(path), found, wanted, isSecret);
}

/** For rules that look at more than one input: `found` is told in words. */
export function ruleProblem(path: string, found: string, wanted: string): Problem {
  return composed(path, found, wanted, false);
}

function composed(path: string, found: string, wanted: string, isSecret: boolean): Problem {
  const place = path === "" ? "the inputs" : path;
  return { path, found, wanted, message: `${place}: found ${found}, need ${wanted}`, isSecret };
}

const SHOWN_CHARACTERS = 80;

function describeFound(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > SHOWN_CHARACTERS ? `${value.slice(0, SHOWN_CHARACTERS)}...` : value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return kindOf(value);
}

function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  switch (typeof value) {
    case "string":
      return value === "" ? "empty text" : "text";
    case "number":
      return "a number";
    case "boolean":
      return "true or false";
    case "function":
      return "a function";
    default:
      return "an object";
  }
}

/** `user:password@host` is not a form of ours, but people write it. */
function holdsPassword(value: unknown): boolean {
  return typeof value === "string" && /^(?:[a-z]+:\/\/)?[^@/\s]*:[^@]*@/.test(value);
}
