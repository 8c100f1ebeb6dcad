import { applyEdits, type Edit, type Node } from "jsonc-parser";
import type { JsonObject, JsonValue } from "../json";
import { isEqual, isList, type JsonText, membersOf, valueOf } from "./json-text";
import { layoutOf, renderValue } from "./json-layout";
import { formsBelow, type NumberForms } from "./number-forms";

/** One value that is different afterwards. */
export interface JsonChange {
  /** JSON pointer (RFC 6901). */
  readonly pointer: string;
  /** null too where the key was not there; `isNew` tells the two apart. */
  readonly from: JsonValue;
  readonly to: JsonValue;
  readonly isNew: boolean;
}

export interface JsonEdit {
  readonly edit: Edit;
  /** More than one where several keys are added at one place. */
  readonly changes: readonly JsonChange[];
}

export function applyJsonEdits(text: string, edits: readonly JsonEdit[]): string {
  return applyEdits(
    text,
    edits.map((one) => one.edit),
  );
}

/** Puts another value where a value stands. */
export function replaceValue(
  file: JsonText,
  node: Node,
  pointer: string,
  to: JsonValue,
  forms: NumberForms = null,
): JsonEdit {
  const old = file.text.slice(node.offset, node.offset + node.length);
  const content = renderValue(to, layoutOf(file, node), isFloatLiteral(node, old), forms);
  const change = { pointer, from: valueOf(file, node), to, isNew: false };
  return { edit: { offset: node.offset, length: node.length, content }, changes: [change] };
}

/**
 * Merges `overrides` into an object: objects merge, everything else is replaced, null becomes null,
 * keys that are not there yet come last. Equal values give no edit, whatever the form of their numbers.
 */
export function mergeInto(
  file: JsonText,
  node: Node,
  pointer: string,
  overrides: JsonObject,
  forms: NumberForms = null,
): readonly JsonEdit[] {
  const members = new Map(membersOf(node).map((member) => [member.name, member.value]));
  const edits: JsonEdit[] = [];
  const added: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(overrides)) {
    const here = members.get(name);
    const path = `${pointer}/${escapePointer(name)}`;
    const written = formsBelow(forms, name);
    if (here === undefined) added.push([name, value]);
    else if (isObject(value) && here.type === "object")
      edits.push(...mergeInto(file, here, path, value, written));
    else if (!isEqual(file, here, value)) edits.push(replaceValue(file, here, path, value, written));
  }
  return [...edits, ...appendMembers(file, node, pointer, added, forms)];
}

/** New keys behind the last one, laid out as the keys before them. */
export function appendMembers(
  file: JsonText,
  node: Node,
  pointer: string,
  added: readonly (readonly [string, JsonValue])[],
  forms: NumberForms = null,
): readonly JsonEdit[] {
  if (added.length === 0) return [];
  const layout = layoutOf(file, node);
  const members = added.map(
    ([name, value]) =>
      JSON.stringify(name) + layout.colon + renderValue(value, layout.child, false, formsBelow(forms, name)),
  );
  const changes = added.map(([name, to]) => ({
    pointer: `${pointer}/${escapePointer(name)}`,
    from: null,
    to,
    isNew: true,
  }));
  const last = node.children?.at(-1);
  const joined = members.join(`,${layout.gap}`);
  if (last !== undefined) {
    return [
      { edit: { offset: last.offset + last.length, length: 0, content: `,${layout.gap}${joined}` }, changes },
    ];
  }
  // Nothing stands between the braces but white space, which goes.
  const content = layout.firstGap + joined + layout.closingGap;
  return [{ edit: { offset: node.offset + 1, length: node.length - 2, content }, changes }];
}

/** A float that is replaced stays a float: Python readers tell 1 and 1.0 apart. */
function isFloatLiteral(node: Node, literal: string): boolean {
  return node.type === "number" && /[.eENI]/.test(literal);
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return value !== null && typeof value === "object" && !isList(value);
}

export function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
