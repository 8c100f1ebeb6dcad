export interface Columns {
  /** Longest line, in characters. */
  readonly width: number;
  /** Of the first line, where something else stands before it; default: width. */
  readonly firstWidth?: number;
  /** Blanks before every line but the first. */
  readonly indent: number;
}

/**
 * What is copied or read as one thing is not broken: commands in backquotes or as they are, an input with its value, a place in a log.
 * A longer one has a line of its own, and is longer than it.
 */
const UNBROKEN: readonly string[] = [
  "`[^`]*`",
  String.raw`\bssh(?:-keygen|-keyscan)? (?:-\S|\S+@).*?(?=,| once\b|;|$)`,
  String.raw`\b\w[\w.]*: (?:"[^"]{0,60}"|-?\d[\d.]*|true|false)`,
  String.raw`\([^()]*\blog line \d+\)`,
];
const WORDS = new RegExp(` *(?:${UNBROKEN.join("|")}|\\S)+`, "g");

/** One line as lines of a terminal, broken at blanks. A word that fits no line stays whole. */
export function wrapText(text: string, { width, firstWidth = width, indent }: Columns): string {
  const lines: string[] = [];
  let line = "";
  for (const [word] of text.matchAll(WORDS)) {
    const room = lines.length === 0 ? firstWidth : width;
    if (line === "" || line.length + word.length <= room) line += word;
    else {
      lines.push(line);
      line = `${" ".repeat(indent)}${word.trimStart()}`;
    }
  }
  return [...lines, line].join("\n");
}
