import { parseArgs } from "node:util";

/** The options of a command by their long names. */
export type OptionTable = Readonly<Record<string, { readonly type: "string" | "boolean" }>>;

export interface Words {
  readonly texts: ReadonlyMap<string, string>;
  readonly flags: ReadonlySet<string>;
  readonly positionals: readonly string[];
  /** All that is wrong with them, not only the first. */
  readonly problems: readonly string[];
}

/** Reads the words behind a command: --name value, --name=value, --flag, and the rest. */
export function readWords(words: readonly string[], options: OptionTable): Words {
  const { tokens } = parseArgs({
    args: [...words],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const texts = new Map<string, string>();
  const flags = new Set<string>();
  const positionals: string[] = [];
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value, inlineValue } = token;
    const option = Object.hasOwn(options, name) && rawName.startsWith("--") ? options[name] : undefined;
    if (option === undefined) problems.push(`${rawName} is no option`);
    else if (seen.has(name)) problems.push(`${rawName} is given more than once`);
    else if (option.type === "boolean") {
      if (value === undefined) flags.add(name);
      else problems.push(`${rawName} takes no value`);
    } else if (value === undefined || value === "" || (!inlineValue && value.startsWith("--"))) {
      problems.push(`${rawName} needs a value`);
    } else texts.set(name, value);
    seen.add(name);
  }
  return { texts, flags, positionals, problems };
}
