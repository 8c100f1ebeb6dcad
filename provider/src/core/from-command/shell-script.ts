import type * as Bash from "unbash" with { "resolution-mode": "import" };
import { baseName, type GivenWord, isKnown, isName, plainWord, unknownWord } from "./given-word";
import { type Notes, Rejected } from "./note";
import { tellConda } from "./vllm-call";
import { valueAfter } from "./shell-assignment";
import { expandedValue, expandedWords, type ShellValue, type Variables } from "./shell-values";

/** A command of a script with its words as the shell would give them. */
export interface ShellCommand {
  readonly words: readonly GivenWord[];
  /** Assignments in front of it. */
  readonly prefix: ReadonlyMap<string, GivenWord>;
  /** Exported by then. */
  readonly exported: ReadonlyMap<string, GivenWord>;
  /** All variables by then, for a script inside a word. */
  readonly variables: Variables;
  /** Folder of the Python environment that was activated; null: none. */
  readonly activated: GivenWord | null;
  /** As often as this it runs; null: nobody knows. */
  readonly times: number | null;
}

export interface ShellScript {
  readonly commands: readonly ShellCommand[];
  /** Files that here-documents write, by the name they are given. */
  readonly files: ReadonlyMap<string, string>;
}

type Parser = typeof Bash.parse;

/** Reads a script as bash would, without running any of it. Fails with Rejected broken-text. */
export function readScript(
  source: string,
  parse: Parser,
  notes: Notes,
  given: Variables = new Map(),
): ShellScript {
  const script = parse(source);
  const [error] = script.errors ?? [];
  if (error !== undefined) throw new Rejected("broken-text", placeIn(source, error.pos), error.message);
  const reader = new ScriptReader(notes, given);
  reader.readAll(script.commands, { isCertain: true, times: 1 });
  return { commands: reader.commands, files: reader.files };
}

function placeIn(source: string, at: number): string {
  const before = source.slice(0, at).split("\n");
  return `line ${String(before.length)}, column ${String((before.at(-1)?.length ?? 0) + 1)}`;
}

interface Way {
  /** Whether it is run at all is known: not inside `if` and the like. */
  readonly isCertain: boolean;
  readonly times: number | null;
}

class ScriptReader {
  readonly commands: ShellCommand[] = [];
  readonly files = new Map<string, string>();
  /** Why lines are not joined. */
  #isTold = false;
  readonly #notes: Notes;
  readonly #variables: Map<string, ShellValue>;
  readonly #exported = new Set<string>();
  #activated: GivenWord | null = null;

  constructor(notes: Notes, given: Variables) {
    this.#notes = notes;
    this.#variables = new Map(given);
  }

  readAll(statements: readonly Bash.Statement[], way: Way): void {
    for (const { command } of statements) this.#read(command, way);
  }

  #read(node: Bash.Statement["command"], way: Way): void {
    switch (node.type) {
      case "Command":
        this.#readCommand(node, way);
        return;
      case "Pipeline":
        for (const command of node.commands) this.#read(command, way);
        return;
      case "AndOr":
        this.#readAndOr(node, way);
        return;
      case "If":
        this.#readIf(node, way);
        return;
      case "While":
        this.readAll(node.body.commands, { ...way, isCertain: false });
        return;
      case "For":
      case "Select":
        this.#readFor(node, way);
        return;
      case "ArithmeticFor":
        this.readAll(node.body.commands, { isCertain: false, times: null });
        return;
      case "Case":
        for (const item of node.items) this.readAll(item.body.commands, { ...way, isCertain: false });
        return;
      case "Subshell":
      case "BraceGroup":
        this.readAll(node.body.commands, way);
        return;
      case "Redirected":
        this.#read(node.command, way);
        return;
      case "Function":
      case "Coproc":
        if (node.body.type === "CompoundList") this.readAll(node.body.commands, way);
        else this.#read(node.body, way);
        return;
      default:
    }
  }

  #readAndOr({ commands, operators }: Bash.AndOr, way: Way): void {
    commands.forEach((command, index) => {
      const left = commands[index - 1];
      const isSure = left === undefined || (operators[index - 1] === "&&" && !isTest(left));
      this.#read(command, isSure ? way : { ...way, isCertain: false });
    });
  }

  #readIf(node: Bash.If, way: Way): void {
    const inside = { ...way, isCertain: false };
    this.readAll(node.then.commands, inside);
    for (const { then } of node.elif) this.readAll(then.commands, inside);
    if (node.else !== undefined) this.readAll(node.else.commands, inside);
  }

  #readFor(node: Bash.For | Bash.Select, way: Way): void {
    const words = node.wordlist?.flatMap((word) => expandedWords(word, this.#variables)) ?? null;
    const name = node.name.value;
    const [only] = words?.length === 1 ? words : [];
    this.#variables.set(name, only ?? unknownWord(name));
    const isCounted = words?.every((word) => isKnown(word)) === true;
    const times = way.times === null || words === null || !isCounted ? null : way.times * words.length;
    this.readAll(node.body.commands, { ...way, times });
  }

  #readCommand(node: Bash.Command, way: Way): void {
    this.#readFiles(node);
    const name = node.name?.value ?? "";
    const assignments = node.prefix.filter((each) => each.type === "Assignment");
    if (node.name === undefined) {
      for (const each of assignments) this.#assign(each, way, false);
    } else if (["export", "declare", "typeset", "local", "readonly"].includes(name)) {
      this.#declare(node, name, way);
    } else if (name === "source" || name === ".") {
      this.#source_(node);
    } else if (/^(?:conda|mamba|micromamba)$/.test(name) && this.#words(node.args)[0]?.text === "activate") {
      tellConda(this.#words(node.args)[1]?.text ?? "base", this.#notes);
    } else if (name.startsWith("-")) {
      this.#continue(node);
    } else {
      this.#keep(node, assignments, way);
    }
  }

  #assign(assignment: Bash.Assignment, { isCertain }: Way, isExport: boolean): void {
    const { name, value, append } = assignment;
    const before = this.#variables.get(name);
    const read: ShellValue =
      value.type === "ArrayValue"
        ? value.elements.flatMap((word) => expandedWords(word, this.#variables))
        : expandedValue(value, this.#variables);
    this.#variables.set(name, valueAfter(before, read, { name, isAppended: append === true, isCertain }));
    if (isExport) this.#exported.add(name);
  }

  #declare(node: Bash.Command, name: string, way: Way): void {
    const flags = node.args.flatMap((arg) =>
      arg.type === "Word" && /^-\w+$/.test(arg.value) ? [arg.value] : [],
    );
    const isExport = name === "export" || flags.some((flag) => flag.includes("x"));
    for (const arg of node.args) {
      if (arg.type === "Assignment") this.#assign(arg, way, isExport);
      else if (isExport && isName(arg.value)) this.#exported.add(arg.value);
    }
  }

  /** `source /opt/v/bin/activate`; of other files nobody can know what they set. */
  #source_(node: Bash.Command): void {
    const [file] = this.#words(node.args);
    if (file === undefined) return;
    const [, folder] = /^(.*)\/bin\/activate$/.exec(file.text) ?? [];
    if (folder !== undefined) this.#activated = { ...file, text: folder };
    else if (!/\/conda\.sh$|\.(?:bashrc|profile)$/.test(file.text))
      this.#notes.add("needs-file", "source", `${file.text}: what it sets is not known`);
  }

  /** A line that begins with an option belongs to the command of the line before it: a backslash is missing there. */
  #continue(node: Bash.Command): void {
    const before = this.commands.pop();
    if (before === undefined || node.name === undefined) return;
    const words = [...before.words, ...this.#words([node.name, ...node.args])];
    this.commands.push({ ...before, words });
    if (!this.#isTold)
      this.#notes.add(
        "missing-backslash",
        "text",
        "lines without a joining backslash were separate commands for a real shell; read as intended",
      );
  }

  #keep(node: Bash.Command, assignments: readonly Bash.Assignment[], { times }: Way): void {
    const prefix = new Map<string, GivenWord>();
    for (const { name, value } of assignments)
      if (value.type === "Word") prefix.set(name, expandedValue(value, this.#variables));
    const exported = new Map<string, GivenWord>();
    for (const name of this.#exported) {
      const value = this.#variables.get(name) ?? unknownWord(name);
      if (!("length" in value)) exported.set(name, value);
    }
    const words = this.#words(node.name === undefined ? node.args : [node.name, ...node.args]);
    const variables = new Map(this.#variables);
    this.commands.push({ words, prefix, exported, variables, activated: this.#activated, times });
  }

  #words(args: readonly Bash.CommandArgument[]): readonly GivenWord[] {
    return this.#whole(args).flatMap((arg) => {
      if (arg.type === "Word") return expandedWords(arg, this.#variables);
      if (arg.value.type === "ArrayValue") return [plainWord(arg.text)];
      const value = expandedValue(arg.value, this.#variables);
      return [{ ...value, text: `${arg.name}=${value.text}`, typed: arg.text }];
    });
  }

  /** Without what stands behind a backslash that should have ended its line: a blank, or a comment. */
  #whole(args: readonly Bash.CommandArgument[]): readonly Bash.CommandArgument[] {
    const at = args.findIndex(({ text }) => /^\\[ \t]/.test(text));
    const broken = args[at];
    if (broken === undefined) return args;
    if (broken.text.includes("#")) {
      this.#isTold = true;
      this.#notes.add(
        "comment-in-continuation",
        "text",
        "a comment behind a backslash ends the command for a real shell; read as intended",
      );
    }
    return args.slice(0, at);
  }

  /** `cat > file << EOF`, `tee file << EOF`. */
  #readFiles(node: Bash.Command): void {
    const here = node.redirects.find((each) => each.type === "HereDoc");
    if (here === undefined) return;
    const target = node.redirects.find(
      (each) => each.type === "Redirect" && (each.operator === ">" || each.operator === ">|"),
    );
    const isTee =
      baseName(node.name?.value ?? "") === "tee" ||
      node.args.some((arg) => arg.type === "Word" && arg.value === "tee");
    const named =
      target?.type === "Redirect" && target.target !== undefined
        ? target.target
        : isTee
          ? node.args.findLast((arg) => arg.type === "Word")
          : undefined;
    if (named?.type !== "Word") return;
    const body =
      here.body.parts === undefined
        ? here.body.text
        : expandedValue({ ...here.body, type: "Word", value: here.body.text }, this.#variables).text;
    this.files.set(expandedValue(named, this.#variables).text, body);
  }
}

function isTest(node: Bash.Statement["command"]): boolean {
  if (node.type === "TestCommand" || node.type === "ArithmeticCommand") return true;
  return node.type === "Command" && ["[", "test", "[["].includes(node.name?.value ?? "");
}
