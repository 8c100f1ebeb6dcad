import { output, secret, type Input, type Inputs } from "@pulumi/pulumi";
import { isSecretName } from "../core/input-path";
import { holdsCredentials } from "../core/url-credentials";
import type { VllmServerArgs } from "./args";

/** What is a secret in the inputs whoever wrote them: encrypted in state, "[secret]" in diffs. */

interface SecretNames {
  readonly isSecret: (name: string) => boolean;
  /** Whether entries of such a name are looked into. */
  readonly isInside: (name: string) => boolean;
  /** Of these the value decides: URLs, which may hold credentials. */
  readonly isUrl: (name: string) => boolean;
}

const HOST_SECRETS: SecretNames = {
  isSecret: (name) => /^(?:password|privateKey|privateKeyPassword)$/.test(name),
  isInside: (name) => name === "proxy",
  isUrl: () => false,
};
const MODEL_SECRETS: SecretNames = {
  isSecret: (name) => name === "token",
  isInside: () => false,
  isUrl: (name) => name === "endpoint",
};
const VLLM_SECRETS: SecretNames = {
  isSecret: () => false,
  isInside: () => false,
  isUrl: (name) => /^(?:indexUrl|extraIndexUrls|packages)$/.test(name),
};
/** A connector's password is a value deep inside a flag's object. */
const FLAG_SECRETS: SecretNames = { isSecret: isSecretName, isInside: () => true, isUrl: () => false };

/** Outputs that are secret whatever the inputs' marks: the state of a later provider may be read without the program. */
export const SECRET_OUTPUTS: readonly string[] = ["apiKey", "environment"];

/** A copy of the inputs with their secrets marked; what was marked before stays. Names that are not inputs are passed on for check() to report. */
export function withSecretInputs(args: VllmServerArgs): Inputs {
  const marked: Inputs = {
    ...args,
    host: marking(args.host, HOST_SECRETS),
    model: marking(args.model, MODEL_SECRETS),
    extraArgs: marking(args.extraArgs, FLAG_SECRETS),
  };
  if (args.vllm !== undefined) marked["vllm"] = marking(args.vllm, VLLM_SECRETS);
  if (args.apiKey !== undefined) marked["apiKey"] = secret(args.apiKey);
  if (args.environment !== undefined) marked["environment"] = secret(args.environment);
  return marked;
}

/** Marks the entries with such names. What comes as one output can only be marked as a whole. */
function marking(value: Input<unknown>, names: SecretNames): Input<unknown> {
  if (isPlainObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, markedEntry(name, inner, names)]),
    );
  }
  if (typeof value !== "object" || value === null) return value;
  return output(value).apply((known: unknown) => (mentions(known, names) ? secret(known) : known));
}

function markedEntry(name: string, value: Input<unknown>, names: SecretNames): unknown {
  if (value === undefined || value === null) return value;
  if (names.isSecret(name)) return secret(value);
  if (names.isUrl(name)) return markedUrl(value);
  return names.isInside(name) && !Array.isArray(value) ? marking(value, names) : value;
}

/** Secret when there are credentials in it, which may be known only when outputs are. */
function markedUrl(value: Input<unknown>): unknown {
  if (isKnown(value)) return isUrlSecret(value) ? secret(value) : value;
  if (typeof value !== "object" || value === null) return value;
  return output(value).apply((known: unknown) => (isUrlSecret(known) ? secret(known) : known));
}

function isKnown(value: unknown): boolean {
  return typeof value === "string" || (Array.isArray(value) && value.every(isKnown));
}

function isUrlSecret(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isUrlSecret);
  return typeof value === "string" && holdsCredentials(value);
}

function mentions(value: unknown, names: SecretNames): boolean {
  if (!isPlainObject(value)) return false;
  return Object.entries(value).some(
    ([name, inner]) =>
      names.isSecret(name) ||
      (names.isInside(name) && mentions(inner, names)) ||
      (names.isUrl(name) && isUrlSecret(inner)),
  );
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
