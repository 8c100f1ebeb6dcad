import { readWords } from "../words";

export interface FromCommandOptions {
  /** The text itself, a file with it, or "-" for standard input. */
  readonly text: string;
  readonly form: "program" | "yaml" | "json";
  /** Of the resource; null: by the model. */
  readonly name: string | null;
  /** null: from the program's config. */
  readonly host: string | null;
}

export const HELP = `usage: pulumi-vllm from-command 'TEXT'|FILE|- [--yaml | --json]
                                [--name NAME] [--host HOST]

Makes a VllmServer of what starts vLLM today, and says what changed on the way:
a command or script, docker or podman run, a systemd unit, a compose file. TEXT
is one word for the shell: put it in single quotes, or give the file it is in,
or - for standard input. Nothing of it is run, no file that it names is looked
at, nothing of it leaves this machine.

  (nothing)     a TypeScript program on stdout
  --yaml        an entry of the stacks' config, servers:
  --json        one JSON object on stdout:
                  {"inputs": {...}, "secrets": [paths],
                   "notes": ["code subject: text"]}
                or {"error": {"code", "message"}}. Inputs are without host;
                "<secret>" stands for each secret
  --name NAME   of the server in the stack; by its model where not given
  --host HOST   where it runs; asked from the config where not given

Notes and the commands that set the secrets are on stderr. Secrets of the text
are never printed.

exit code: 0 done; 1 the text is broken, or is not one server; 2 the command
line is not right (all of its problems are told)
`;

const OPTIONS = {
  yaml: { type: "boolean" },
  json: { type: "boolean" },
  name: { type: "string" },
  host: { type: "string" },
} as const;

export interface ReadOptions {
  readonly problems: readonly string[];
  /** null: there are problems. */
  readonly options: FromCommandOptions | null;
}

export function readOptions(given: readonly string[]): ReadOptions {
  const { texts, flags, positionals, problems: unread } = readWords(given, OPTIONS);
  const [text, ...surplus] = positionals;
  const problems = [...unread];
  if (text === undefined || text === "")
    problems.push("TEXT, what starts vLLM, is missing (- is standard input)");
  if (surplus.length > 0) problems.push("TEXT has to be one word: put it in single quotes");
  if (flags.has("yaml") && flags.has("json")) problems.push("--yaml and --json exclude each other");
  const name = texts.get("name") ?? null;
  if (name !== null && !/^[A-Za-z0-9][\w.-]*$/.test(name))
    problems.push(`--name is ${JSON.stringify(name)}, need letters, digits, -, _ and .`);
  if (problems.length > 0 || text === undefined) return { problems, options: null };
  const form = flags.has("json") ? "json" : flags.has("yaml") ? "yaml" : "program";
  return { problems, options: { text, form, name, host: texts.get("host") ?? null } };
}
