import type { Node } from "jsonc-parser";
import type { JsonValue } from "../json";
import { isList, type JsonText } from "./json-text";
import { formsBelow, type NumberForms } from "./number-forms";

/** How an object of the file is written, so that what is added looks like its neighbours. */
export interface Layout {
  /** Between a key and its value, e.g. ": ". */
  readonly colon: string;
  /** White space in front of a key that follows a comma, e.g. "\n  ". */
  readonly gap: string;
  /** White space in front of the first key of an empty object. */
  readonly firstGap: string;
  /** White space in front of the closing brace of an object that was empty. */
  readonly closingGap: string;
  /** Line break and indentation of this node's own line; null: written on one line. */
  readonly lineStart: string | null;
  /** One step of indentation. */
  readonly indent: string;
  /** Layout for values of this object's keys. */
  readonly child: ValueLayout;
}

export interface ValueLayout {
  readonly colon: string;
  readonly lineStart: string | null;
  readonly indent: string;
}

export function layoutOf(file: JsonText, node: Node): Layout {
  const { text } = file;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const isMultiLine = /[\r\n]/.test(text.trim());
  const indent = /\n([ \t]+)/.exec(text)?.[1] ?? "  ";
  const last = node.type === "object" ? node.children?.at(-1) : undefined;
  const lineStart = isMultiLine ? eol + indentationAt(text, node.offset) : null;
  const colon = last === undefined ? colonOf(file.text, file.root) : colonOf(text, node);
  const inner = lineStart === null ? "" : lineStart + indent;
  if (last === undefined) {
    const child = { colon, lineStart: lineStart === null ? null : inner, indent };
    const gap = lineStart === null ? gapBehindComma(colon) : inner;
    return { colon, gap, firstGap: inner, closingGap: lineStart ?? "", lineStart, indent, child };
  }
  const before = gapBefore(text, last.offset);
  // Behind a "{" alone a one-line object says nothing about commas.
  const gap = before === "" && node.children?.length === 1 ? gapBehindComma(colon) : before;
  const child = { colon, lineStart: /\n/.test(gap) ? eol + indentationAt(text, last.offset) : null, indent };
  return { colon, gap, firstGap: gap, closingGap: "", lineStart, indent, child };
}

/** JSON text in the file's own style. `asFloat`: a whole number is written with ".0", unless `forms` have it otherwise. */
export function renderValue(
  value: JsonValue,
  layout: ValueLayout,
  asFloat: boolean,
  forms: NumberForms,
): string {
  if (typeof value === "number" && typeof forms === "string") return forms;
  if (typeof value === "number" && asFloat && Number.isInteger(value)) {
    const literal = JSON.stringify(value);
    return literal.includes("e") ? literal : `${literal}.0`;
  }
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const inner = { ...layout, lineStart: layout.lineStart === null ? null : layout.lineStart + layout.indent };
  const items = isList(value)
    ? value.map((item, index) => renderValue(item, inner, false, formsBelow(forms, index)))
    : Object.entries(value).map(
        ([key, item]) =>
          JSON.stringify(key) + layout.colon + renderValue(item, inner, false, formsBelow(forms, key)),
      );
  const [open, close] = isList(value) ? ["[", "]"] : ["{", "}"];
  if (items.length === 0) return `${open}${close}`;
  if (layout.lineStart === null || inner.lineStart === null) {
    return `${open}${items.join(`,${gapBehindComma(layout.colon)}`)}${close}`;
  }
  return `${open}${inner.lineStart}${items.join(`,${inner.lineStart}`)}${layout.lineStart}${close}`;
}

/** White space in front of a key. */
function gapBefore(text: string, offset: number): string {
  return /[ \t\r\n]*$/.exec(text.slice(Math.max(0, offset - 200), offset))?.[0] ?? "";
}

/** On one line, commas are spaced as colons are: both or neither. */
function gapBehindComma(colon: string): string {
  return colon === ":" ? "" : " ";
}

function colonOf(text: string, object: Node): string {
  const [key, value] = object.children?.at(-1)?.children ?? [];
  if (key === undefined || value === undefined) return ": ";
  const between = text.slice(key.offset + key.length, value.offset);
  return /^[ \t]*:[ \t]*$/.test(between) ? between : ": ";
}

function indentationAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? "";
}
