import type { Node } from "jsonc-parser";
import { type JsonText, membersOf } from "./json-text";

/**
 * How the numbers of a value were written, in the shape of the value: readers in Python tell 1 and 1.0 apart, JavaScript does not.
 * null: as JavaScript writes them.
 */
export type NumberForms = string | ReadonlyMap<string, NumberForms> | null;

export function numberFormsOf(file: JsonText, node: Node): NumberForms {
  if (node.type === "number") {
    const literal = file.text.slice(node.offset, node.offset + node.length);
    return literal === JSON.stringify(Number(literal)) ? null : literal;
  }
  const parts: readonly (readonly [string, Node])[] =
    node.type === "array"
      ? (node.children ?? []).map((child, index) => [String(index), child] as const)
      : membersOf(node).map(({ name, value }) => [name, value] as const);
  const told = parts
    .map(([name, part]) => [name, numberFormsOf(file, part)] as const)
    .filter(([, forms]) => forms !== null);
  return told.length === 0 ? null : new Map(told);
}

/** Those of one member or item. */
export function formsBelow(forms: NumberForms, name: string | number): NumberForms {
  return forms === null || typeof forms === "string" ? null : (forms.get(String(name)) ?? null);
}
