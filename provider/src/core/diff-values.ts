import { canonicalJson } from "./identity";

export const NOT_SET = "(not set)";
/** In place of a secret that is set. */
export const HIDDEN = "(secret)";

const SHOWN_CHARACTERS = 60;
/** Of what two long texts begin with alike; the rest of it is left out. */
const CONTEXT_CHARACTERS = 20;

/** Two values that differ, each as one line that can be read, and such that the difference is in it. */
export function shownPair(from: unknown, to: unknown): { readonly from: string; readonly to: string } {
  const texts = [from, to].map((value) => written(value));
  const [old = "", now = ""] = texts[0] === texts[1] ? [from, to].map((value) => quoted(value)) : texts;
  const isLong = old.length > SHOWN_CHARACTERS || now.length > SHOWN_CHARACTERS;
  const start = isLong ? Math.max(0, sameLength(old, now) - CONTEXT_CHARACTERS) : 0;
  return { from: cut(old, start), to: cut(now, start) };
}

/** Text as it is, unless a line break, a control character or a blank at its ends would be lost on the line. */
function written(value: unknown): string {
  if (value === undefined) return NOT_SET;
  const isPlain =
    typeof value === "string" &&
    value !== "" &&
    value.trim() === value &&
    !/\p{C}|\p{Zl}|\p{Zp}/u.test(value);
  return isPlain ? value : quoted(value);
}

function quoted(value: unknown): string {
  if (value === undefined) return NOT_SET;
  return canonicalJson(value).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

function sameLength(first: string, second: string): number {
  let length = 0;
  while (length < first.length && first[length] === second[length]) length += 1;
  return length;
}

function cut(text: string, start: number): string {
  const isWhole = text === NOT_SET || start === 0;
  const rest = isWhole ? text : `...${text.slice(start)}`;
  return rest.length > SHOWN_CHARACTERS ? `${rest.slice(0, SHOWN_CHARACTERS)}...` : rest;
}
