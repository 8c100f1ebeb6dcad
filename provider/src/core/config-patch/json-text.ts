import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import type { JsonValue } from "../json";

/** A JSON file as text beside its tree, so that an edit can leave every other byte alone. */
export interface JsonText {
  readonly text: string;
  readonly root: Node;
}

/**
 * Parses what Python's json module reads: strict JSON plus NaN, Infinity and -Infinity.
 * Returns null when the text is not that, or its root is no object.
 */
export function parseJsonText(text: string): JsonText | null {
  const { root, errors } = parse(text);
  if (root === undefined || errors.length > 0 || root.type !== "object") return null;
  return { text, root };
}

/** Of a text that parseJsonText does not take: what stands there instead, and where, in words. */
export function notJsonObject(text: string): string {
  // Editors do not show it, and Python's json module refuses it.
  if (text.startsWith("\uFEFF")) return "found a byte order mark in front, need a JSON object";
  const { root, errors } = parse(text);
  const [error] = errors;
  if (root !== undefined && error === undefined)
    return `found JSON that is no object (${root.type}), need one`;
  const before = text.slice(0, error?.offset ?? text.length).split("\n");
  const place = `line ${String(before.length)}, column ${String((before.at(-1)?.length ?? 0) + 1)}`;
  const why = error === undefined ? "" : ` (${printParseErrorCode(error.error)})`;
  return `found no JSON from ${place} on${why}, need a JSON object`;
}

function parse(text: string): { readonly root: Node | undefined; readonly errors: readonly ParseError[] } {
  const errors: ParseError[] = [];
  const options = { disallowComments: true, allowTrailingComma: false };
  return { root: parseTree(maskPythonNumbers(text), errors, options), errors };
}

/**
 * Python writes NaN and Infinity, which no JSON parser takes. They are read as numbers of the same
 * length, so that the offsets of the tree hold for the text as it stands.
 */
function maskPythonNumbers(text: string): string {
  if (!text.includes("NaN") && !text.includes("Infinity")) return text;
  return text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|NaN|Infinity/gs, (token) => {
    if (token === "NaN") return "0e0";
    return token === "Infinity" ? "1.000000" : token;
  });
}

export interface Member {
  readonly name: string;
  readonly property: Node;
  readonly value: Node;
}

/** The members of an object that count: of a repeated name the last one, as in Python. */
export function membersOf(node: Node): readonly Member[] {
  if (node.type !== "object") return [];
  const members = new Map<string, Member>();
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? [];
    if (key === undefined || value === undefined) continue;
    const name: unknown = key.value;
    if (typeof name === "string") members.set(name, { name, property, value });
  }
  return [...members.values()];
}

export function memberOf(node: Node, name: string): Node | undefined {
  return membersOf(node).find((member) => member.name === name)?.value;
}

/** The value of a node; NaN and the infinities, which JSON cannot hold, as their Python names. */
export function valueOf(file: JsonText, node: Node): JsonValue {
  if (node.type === "object") {
    return Object.fromEntries(membersOf(node).map((member) => [member.name, valueOf(file, member.value)]));
  }
  if (node.type === "array") return (node.children ?? []).map((child) => valueOf(file, child));
  if (node.type === "number") {
    const literal = file.text.slice(node.offset, node.offset + node.length);
    return /[NI]/.test(literal) ? literal : Number(literal);
  }
  const value: unknown = node.value;
  return typeof value === "string" || typeof value === "boolean" ? value : null;
}

/** Whether the node already says `value`; the order of keys and the form of numbers do not matter. */
export function isEqual(file: JsonText, node: Node, value: JsonValue): boolean {
  if (value !== null && typeof value === "object") {
    if (isList(value)) {
      const children = node.children ?? [];
      return (
        node.type === "array" &&
        children.length === value.length &&
        value.every((item, index) => {
          const child = children[index];
          return child !== undefined && isEqual(file, child, item);
        })
      );
    }
    const members = membersOf(node);
    return (
      node.type === "object" &&
      members.length === Object.keys(value).length &&
      members.every((member) => {
        const wanted = Object.hasOwn(value, member.name) ? value[member.name] : undefined;
        return wanted !== undefined && isEqual(file, member.value, wanted);
      })
    );
  }
  return node.type === typeOf(value) && valueOf(file, node) === value;
}

export function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function typeOf(value: null | boolean | number | string): string {
  return value === null ? "null" : typeof value;
}
