import type { FindContext } from "./find-launch";
import { commandOf, launchOf } from "./find-launch";
import { assignmentIn, type GivenWord, joinedWords, plainWord, unknownWord } from "./given-word";
import type { Launch } from "./launch";

/** Keys that say something about the process itself; the others are told as systemd's own. */
const READ: ReadonlySet<string> = new Set(["ExecStart", "Environment", "EnvironmentFile", "User"]);
/** Nothing that a resource would do otherwise. */
const SILENT: ReadonlySet<string> = new Set([
  "Description",
  "Documentation",
  "After",
  "Wants",
  "Type",
  "WorkingDirectory",
]);

interface Setting {
  readonly key: string;
  readonly value: string;
}

/** The servers that a systemd unit starts. Source of the syntax: systemd.syntax(7), systemd.exec(5), systemd.service(5). */
export function launchesInUnit(text: string, context: FindContext): readonly Launch[] {
  const settings = settingsOf(text);
  const { notes } = context;
  const environment = new Map<string, GivenWord>();
  for (const { value } of settings.filter(({ key }) => key === "Environment")) {
    if (value === "") environment.clear();
    for (const word of wordsOf(value, new Map())) {
      const assignment = assignmentIn(word);
      if (assignment !== null) environment.set(assignment.name, assignment.value);
    }
  }
  for (const { value } of settings.filter(({ key }) => key === "EnvironmentFile"))
    notes.add(
      "needs-file",
      "EnvironmentFile",
      `${value.replace(/^-/, "")}: what it sets is not known; put it into environment`,
    );
  const user = settings.findLast(({ key }) => key === "User")?.value;
  if (user !== undefined) notes.add("runs-as", "User", `ran as ${user}; the resource runs as the SSH user`);
  const rest = settings.map(({ key }) => key).filter((key) => !READ.has(key) && !SILENT.has(key));
  if (rest.length > 0)
    notes.add("unit-only", "systemd", `${[...new Set(rest)].join(", ")}: see the service input`);
  return settings
    .filter(({ key, value }) => key === "ExecStart" && value !== "")
    .flatMap(({ value }) => {
      const words = wordsOf(value.replace(/^[-@:+!|]+/, ""), environment);
      return launchOf(commandOf(words, environment), context) ?? [];
    });
}

function settingsOf(text: string): readonly Setting[] {
  const joined = text.replace(/^[ \t]*[#;].*\n/gm, "").replace(/[ \t]*\\[ \t]*\n/g, " ");
  return joined.split("\n").flatMap((line) => {
    const [, key, value] = /^\s*([A-Za-z][\w-]*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    return key === undefined || value === undefined ? [] : [{ key, value }];
  });
}

/** Words with quotes, escapes, %-signs and variables as systemd reads them. */
function wordsOf(text: string, environment: ReadonlyMap<string, GivenWord>): readonly GivenWord[] {
  const words: GivenWord[] = [];
  const pieces: GivenWord[] = [];
  let quote: string | null = null;
  const add = (piece: GivenWord): void => {
    pieces.push(piece);
  };
  const end = (): void => {
    if (pieces.length > 0) words.push(joinedWords(pieces.splice(0)));
  };
  const pattern = /\\(.)|%(.)|\$\{(\w+)\}|\$(\w+)|(\$\$)|(["'])|(\s+)|([^])/gu;
  for (const [whole, escaped, specifier, braced, bare, dollars, mark, blank, sign = ""] of text.matchAll(
    pattern,
  )) {
    if (escaped !== undefined) add(plainWord(ESCAPES.get(escaped) ?? escaped));
    else if (specifier !== undefined) add(specified(specifier));
    else if (braced !== undefined) add(environment.get(braced) ?? unknownWord(braced));
    else if (bare !== undefined) {
      const value = environment.get(bare);
      // A variable that is a word of its own becomes as many words as are in it.
      if (value === undefined || pieces.length > 0 || quote !== null) add(value ?? unknownWord(bare));
      else words.push(...wordsOf(value.text, new Map()));
    } else if (dollars !== undefined) add(plainWord("$"));
    else if (mark !== undefined && (quote === null || quote === mark)) {
      quote = quote === null ? mark : null;
      add(plainWord(""));
    } else if (blank !== undefined && quote === null) end();
    else add(plainWord(sign === "" ? whole : sign));
  }
  end();
  return words;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["s", " "],
]);

function specified(letter: string): GivenWord {
  if (letter === "%") return plainWord("%");
  return letter === "h" ? plainWord("~") : unknownWord(`%${letter}`);
}
