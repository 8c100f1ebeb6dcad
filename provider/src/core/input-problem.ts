import { formatPath, isSecretPath, type InputPath } from "./input-path";
import { holdsCredentials } from "./url-credentials";

/** One thing that is wrong with the inputs, at its property path. */
export interface Problem {
  /** `engine.maxModelLen`, `extraArgs["stream-interval"]`; "" = the inputs as a whole. */
  readonly path: string;
  /** What stands there, without secrets. */
  readonly found: string;
  readonly wanted: string;
  /** The whole sentence: path, found and wanted. */
  readonly message: string;
  /** What stands there is a secret, so `found` only says what kind of value it is. */
  readonly isSecret: boolean;
}

export function problemAt(path: InputPath, value: unknown, wanted: string): Problem {
  const isSecret = isSecretPath(path) || holdsPassword(value);
  const found = isSecret
    ? `${kindOf(value)}${value === undefined || value === null ? "" : " (not shown)"}`
    : describeFound(value);
  return composed(formatPath(path), found, wanted, isSecret);
}

/** Parameters of a schema's issue that is about a member's name. */
export const ABOUT_NAME = { isName: true } as const;

/** A name that is not known where it stands. Not its value is wrong, and a text may be a secret under a misspelled name. */
export function wrongNameProblem(path: InputPath, value: unknown, wanted: string): Problem {
  if (typeof value !== "string" || isSecretPath(path)) return problemAt(path, value, wanted);
  return composed(formatPath(path), kindOf(value), wanted, false);
}

/** Of a value that is a secret although its place is none: not even its kind is told. */
export function secretProblem(path: string, wanted: string): Problem {
  return composed(path, "a secret (not shown)", wanted, true);
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
  if (typeof value === "string") return JSON.stringify(shortened(value));
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value) && value.length > 0 && value.every(isScalar))
    return shortened(JSON.stringify(value));
  return kindOf(value);
}

function isScalar(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function shortened(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text;
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
  if (Array.isArray(value)) return value.some(holdsPassword);
  return (
    typeof value === "string" && (/^(?:[a-z]+:\/\/)?[^@/\s]*:[^@]*@/.test(value) || holdsCredentials(value))
  );
}
