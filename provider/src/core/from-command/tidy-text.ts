import type { Notes } from "./note";

/** What programs for writing make of signs -> the sign that was typed. */
const TYPOGRAPHY: readonly (readonly [RegExp, string])[] = [
  [/[\u201C\u201D\u201E\u201F\u2033]/g, '"'],
  [/[\u2018\u2019\u201A\u201B\u2032]/g, "'"],
  [/(^|[\s"'])[\u2014\u2013\u2012\u2212](?=[A-Za-z])/gm, "$1--"],
  [/(^|[\s"'])-[\u2014\u2013\u2012\u2212](?=[A-Za-z])/gm, "$1--"],
  [/(^|[\s"'])[\u2010-\u2015\u2212]{2}(?=[A-Za-z])/gm, "$1--"],
  [/[\u2010\u2011\u2212](?=\w)/g, "-"],
];

/** Blanks and marks that nobody sees. */
const INVISIBLE = /[\u00A0\u2007\u202F\u3000]/g;
const NOTHING = /[\u200B-\u200D\u2060\uFEFF]/g;

/** In front of a command that was copied from a terminal: `$ `, `user@host:~# `, `(venv) user@host:~$ `. */
const PROMPT =
  /^[ \t]*(?:\([\w .-]+\)[ \t]*)?(?:[\w.-]+@[\w.-]+(?::[^\s#$]*)?[#$]|\[[\w.-]+@[^\]\n]*\][#$]|[$%])[ \t]+(?=\S)/gm;

/** The same text without what came into it by copying. What could have meant something is told. */
export function tidyShell(text: string, notes: Notes): string {
  const plain = withoutTypography(text, notes).replace(PROMPT, "");
  const separated = plain.replace(/(\S)\\\n(?=--?[A-Za-z])/g, "$1 \\\n");
  return separated.replace(/(?:[ \t]*\\[ \t]*\n?)+\s*$/, "\n");
}

export function withoutTypography(text: string, notes: Notes): string {
  const lines = text.replace(/\r\n?/g, "\n").replace(INVISIBLE, " ").replace(NOTHING, "");
  const bare = lines.replace(/^[ \t]*```[\w-]*[ \t]*$/gm, "");
  const straight = TYPOGRAPHY.reduce((before, [sign, typed]) => before.replace(sign, typed), bare);
  if (straight === bare) return bare;
  notes.add(
    "repaired-typography",
    "text",
    "dashes or quotes of a text program, which a shell does not know; read as typed ones",
  );
  return straight;
}
