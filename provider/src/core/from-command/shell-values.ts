import type { ParameterExpansionPart, Word, WordPart } from "unbash" with { "resolution-mode": "import" };
import { type GivenWord, isKnown, isName, joinedWords, plainWord, unknownWord, withText } from "./given-word";

/** A list is an array of the shell. */
export type ShellValue = GivenWord | readonly GivenWord[];
export type Variables = ReadonlyMap<string, ShellValue>;

/** The words that the shell makes of a written one: none, one or several. Nothing is run, no file is looked for. */
export function expandedWords(word: Word, variables: Variables): readonly GivenWord[] {
  const fields = new Fields();
  for (const part of word.parts ?? [literalOf(word)]) addPart(fields, part, variables, false);
  const words = fields.done();
  return words.length === 1 ? words.map((each) => ({ ...each, typed: word.text })) : words;
}

/** One word, as behind `X=`. */
export function expandedValue(word: Word, variables: Variables): GivenWord {
  const fields = new Fields();
  for (const part of word.parts ?? [literalOf(word)]) addPart(fields, part, variables, true);
  return { ...joinedBySpaces(fields.done()), typed: word.text };
}

function literalOf({ value, text, pos, end }: Word): WordPart {
  return { type: "Literal", value, text, pos, end };
}

/** Collects the words that one written word becomes. */
class Fields {
  readonly #words: GivenWord[] = [];
  #open: GivenWord[] | null = null;

  add(piece: GivenWord): void {
    (this.#open ??= []).push(piece);
  }

  /** Text of a variable outside quotes: blanks in it end a word. */
  addSplit(piece: GivenWord): void {
    const [first = "", ...rest] = piece.text.split(/[ \t\n]+/);
    if (first !== "") this.add(withText(piece, first));
    for (const text of rest) {
      this.#close();
      if (text !== "") this.add(withText(piece, text));
    }
  }

  addList(pieces: readonly GivenWord[]): void {
    pieces.forEach((piece, index) => {
      if (index > 0) this.#close();
      this.add(piece);
    });
  }

  done(): readonly GivenWord[] {
    this.#close();
    return this.#words;
  }

  #close(): void {
    if (this.#open !== null) this.#words.push(joinedWords(this.#open));
    this.#open = null;
  }
}

function addPart(fields: Fields, part: WordPart, variables: Variables, isQuoted: boolean): void {
  switch (part.type) {
    case "DoubleQuoted":
    case "LocaleString":
      if (part.parts.length === 0) fields.add(plainWord(""));
      for (const child of part.parts) addPart(fields, child, variables, true);
      return;
    case "SimpleExpansion":
      addValue(fields, valueOf(part.text.slice(1), variables), isQuoted);
      return;
    case "ParameterExpansion":
      addValue(fields, expansionOf(part, variables), isQuoted);
      return;
    case "CommandExpansion":
    case "ArithmeticExpansion":
    case "ProcessSubstitution":
      fields.add(unknownWord(part.text));
      return;
    case "BraceExpansion":
    case "ExtendedGlob":
      fields.add(plainWord(withoutQuotes(part.text)));
      return;
    default:
      fields.add(plainWord(part.value));
  }
}

function addValue(fields: Fields, value: ShellValue, isQuoted: boolean): void {
  if (isList(value)) fields.addList(value);
  else if (isQuoted || !isKnown(value)) fields.add(value);
  else fields.addSplit(value);
}

function isList(value: ShellValue): value is readonly GivenWord[] {
  return Array.isArray(value);
}

function valueOf(name: string, variables: Variables): ShellValue {
  const value = variables.get(name);
  if (value === undefined) return name === "HOME" ? plainWord("~") : unknownOf(name);
  if (isList(value)) return value[0] ?? plainWord("");
  return { ...value, from: [...value.from, name] };
}

function unknownOf(name: string): GivenWord {
  return unknownWord(isName(name) ? name : `$${name}`);
}

function expansionOf(part: ParameterExpansionPart, variables: Variables): ShellValue {
  const { parameter, operation, index } = part;
  const value = variables.get(parameter);
  if (part.prefix !== undefined) return unknownText(part);
  if (index !== undefined && (index.value === "@" || index.value === "*"))
    return value === undefined ? unknownWord(parameter) : isList(value) ? value : [value];
  if (index !== undefined) {
    const element = value !== undefined && isList(value) ? value[Number(index.value)] : undefined;
    return element ?? unknownText(part);
  }
  if (operation === undefined) return valueOf(parameter, variables);
  const given = value === undefined ? null : joinedBySpaces([valueOf(parameter, variables)].flat());
  if (operation.type === "Default") {
    const { operator, operand } = operation;
    const isGiven = given !== null && !(operator.startsWith(":") && given.text === "");
    if (operator.endsWith("+")) return isGiven ? expandedValue(operand, variables) : plainWord("");
    if (isGiven) return given;
    return operator.endsWith("?") ? unknownWord(parameter) : expandedValue(operand, variables);
  }
  if (given === null || !isKnown(given)) return unknownText(part);
  if (operation.type === "Remove") {
    const pattern = expandedValue(operation.operand, variables).text;
    return withText(given, withoutEnd(given.text, pattern, operation.operator));
  }
  if (operation.type === "CaseModification" && operation.operator.length === 2) {
    const isUpper = operation.operator === "^^";
    return withText(given, isUpper ? given.text.toUpperCase() : given.text.toLowerCase());
  }
  return unknownText(part);
}

/** An operation on something that is not known, or one that is not done here. */
function unknownText({ text, parameter }: ParameterExpansionPart): GivenWord {
  return { text, unknown: [parameter], from: [], typed: text };
}

// `${x##*/}` and the like: the shortest (one sign) or longest (two) match of the pattern, at the beginning or the end.
function withoutEnd(text: string, pattern: string, operator: "#" | "##" | "%" | "%%"): string {
  const any = operator.length === 2 ? "[^]*" : "[^]*?";
  const glob = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("?", "[^]")
    .replaceAll("*", any);
  if (operator.startsWith("#")) return text.replace(new RegExp(`^${glob}`), "");
  const found = new RegExp(operator === "%" ? `^([^]*)${glob}$` : `^([^]*?)${glob}$`).exec(text);
  return found?.[1] ?? text;
}

function joinedBySpaces(words: readonly GivenWord[]): GivenWord {
  return joinedWords(words.flatMap((word, index) => (index === 0 ? [word] : [plainWord(" "), word])));
}

function withoutQuotes(text: string): string {
  return text.replace(/["']/g, "");
}
