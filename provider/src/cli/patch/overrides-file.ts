import { readFileSync } from "node:fs";
import type { JsonObject, JsonValue } from "../../core/json";
import { isObject } from "../../core/config-patch/json-edit";
import type { OverrideForms } from "../../core/config-patch";
import { notJsonObject, parseJsonText, valueOf } from "../../core/config-patch/json-text";
import { formsBelow, type NumberForms, numberFormsOf } from "../../core/config-patch/number-forms";
import { PatchFailure, reasonOf } from "./failure";

export interface Overrides {
  readonly quantizationConfigOverrides: JsonObject;
  readonly configOverrides: JsonObject;
  /** As the file has them: 1.0 stays 1.0. */
  readonly numberForms: OverrideForms;
}

const NAMES = ["quantizationConfigOverrides", "configOverrides"] as const;

/** Both overrides of a file, or its whole object as the ones of quantization configs. Fails with overrides-not-readable, overrides-not-valid. */
export function readOverrides(file: string | null): Overrides {
  if (file === null) return overrides({}, {}, null, null);
  const { given, forms } = parsed(file, textOf(file));
  if (!NAMES.some((name) => Object.hasOwn(given, name))) return overrides(given, {}, forms, null);
  const strange = Object.keys(given).filter((key) => !NAMES.some((name) => name === key));
  if (strange.length > 0)
    throw notValid(file, `${strange.join(", ")} beside ${NAMES.join(" and ")}`, "only these two");
  const of = (name: (typeof NAMES)[number]): JsonObject => objectOf(file, name, given[name] ?? {});
  return overrides(
    of("quantizationConfigOverrides"),
    of("configOverrides"),
    formsBelow(forms, "quantizationConfigOverrides"),
    formsBelow(forms, "configOverrides"),
  );
}

function overrides(
  quantizationConfigOverrides: JsonObject,
  configOverrides: JsonObject,
  ofQuantization: NumberForms,
  ofConfig: NumberForms,
): Overrides {
  const numberForms = { quantizationConfigOverrides: ofQuantization, configOverrides: ofConfig };
  return { quantizationConfigOverrides, configOverrides, numberForms };
}

function textOf(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch (error) {
    throw new PatchFailure(
      "overrides-not-readable",
      `Cannot read overrides ${file}: ${reasonOf(error)}`,
      error,
    );
  }
}

function parsed(file: string, text: string): { readonly given: JsonObject; readonly forms: NumberForms } {
  const json = parseJsonText(text);
  if (json === null)
    throw new PatchFailure("overrides-not-valid", `Cannot use overrides ${file}: ${notJsonObject(text)}`);
  const value = valueOf(json, json.root);
  const inexact = inexactNumber(text);
  if (inexact !== null) throw notValid(file, inexact, "numbers that JavaScript can hold");
  return { given: objectOf(file, "the file", value), forms: numberFormsOf(json, json.root) };
}

/** The first number that would come out as another one: NaN and Infinity, and integers of more digits than a double has. */
function inexactNumber(text: string): string | null {
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|-?Infinity|NaN|-?\d[\d.eE+-]*/gs)) {
    if (token.startsWith('"')) continue;
    if (/[NI]/.test(token) || (/^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)))) return token;
    if (!Number.isFinite(Number(token))) return token;
  }
  return null;
}

function objectOf(file: string, name: string, value: JsonValue): JsonObject {
  if (isObject(value)) return value;
  throw notValid(
    file,
    `${name} that is ${value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`}`,
    "an object",
  );
}

function notValid(file: string, found: string, wanted: string): PatchFailure {
  return new PatchFailure(
    "overrides-not-valid",
    `Cannot use overrides ${file}: found ${found}, need ${wanted}`,
  );
}
