/** One word as a program would have got it, with what the text does not say. */
export interface GivenWord {
  /** What nobody can know from the text stands in it as `${X}` or `$(...)`. */
  readonly text: string;
  /** Names of the variables, or texts of the commands, that are not known. */
  readonly unknown: readonly string[];
  /** Variables of the text that the word was made of. */
  readonly from: readonly string[];
  /** As it was typed, with its quotes. */
  readonly typed: string;
}

export function plainWord(text: string, typed = text): GivenWord {
  return { text, unknown: [], from: [], typed };
}

/** `name` as in `${name}`, or the text of a command as `$(...)`. */
export function unknownWord(name: string): GivenWord {
  return { text: isName(name) ? `\${${name}}` : name, unknown: [name], from: [], typed: name };
}

export function joinedWords(words: readonly GivenWord[]): GivenWord {
  return {
    text: words.map(({ text }) => text).join(""),
    unknown: words.flatMap(({ unknown }) => unknown),
    from: words.flatMap(({ from }) => from),
    typed: words.map(({ typed }) => typed).join(""),
  };
}

/** The same origin, another text. */
export function withText(word: GivenWord, text: string): GivenWord {
  return { ...word, text };
}

export function isKnown(word: GivenWord): boolean {
  return word.unknown.length === 0;
}

/** The name of a variable, and not a command. */
export function isName(text: string): boolean {
  return /^[A-Za-z_]\w*$/.test(text);
}

/** Splits `NAME=value`; null: it is none. */
export function assignmentIn(word: GivenWord): { readonly name: string; readonly value: GivenWord } | null {
  const [, name, value] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(word.text) ?? [];
  return name === undefined || value === undefined ? null : { name, value: withText(word, value) };
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
