import { readWords } from "../words";

export interface LogsOptions {
  /** Name of the resource, or its URN. */
  readonly name: string;
  /** null: the selected one. */
  readonly stack: string | null;
  /** Of the Pulumi project. */
  readonly cwd: string;
  readonly lines: number;
  readonly follow: boolean;
  /** null: the newest start, and those after it. */
  readonly generation: number | null;
}

export const HELP = `usage: pulumi-vllm logs NAME [--stack STACK] [--cwd DIR] [--lines N] [--no-follow]
                        [--generation N]

Shows the end of the log of a server's newest start and goes on with what is
printed, over its restarts, until ^C. Whose log it is stands on stderr.

NAME is the name of the VllmServer in the program, or its URN. Where it runs and
how to get there is read from the state of the stack, by \`pulumi stack export\`;
with --show-secrets only where \`host\` holds a secret, which is used to connect
and shown nowhere.

  --stack STACK    default: the one that is selected in DIR
  --cwd DIR        folder of the Pulumi project; default: the current one
  --lines N        so many lines of the end at first; default: 200
  --no-follow      only these lines
  --generation N   the log of that start alone (output \`generation\`); the
                   newest few are kept (service.logs.keep)

exit code: 0 the log was shown; 1 it could not be; 2 the command line is not
right (all of its problems are told)
`;

const OPTIONS = {
  stack: { type: "string" },
  cwd: { type: "string" },
  lines: { type: "string" },
  "no-follow": { type: "boolean" },
  generation: { type: "string" },
} as const;

const LINES = 200;
/** What a host keeps in memory of it. */
const MOST_LINES = 100_000;

export interface ReadOptions {
  readonly problems: readonly string[];
  /** null: there are problems. */
  readonly options: LogsOptions | null;
}

export function readOptions(given: readonly string[]): ReadOptions {
  const words = readWords(given, OPTIONS);
  const [name, ...surplus] = words.positionals;
  const problems = [...words.problems];
  if (name === undefined || name === "") problems.push("NAME, the server's, is missing");
  for (const word of surplus) problems.push(`${JSON.stringify(word)} is one word too many`);
  const number = (option: "lines" | "generation", least: number, most: number): number | null => {
    const text = words.texts.get(option);
    if (text === undefined) return null;
    if (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
    problems.push(
      `--${option} is ${JSON.stringify(text)}, need a whole number from ${String(least)} to ${String(most)}`,
    );
    return null;
  };
  const lines = number("lines", 1, MOST_LINES) ?? LINES;
  const generation = number("generation", 1, 999_999_999);
  if (problems.length > 0 || name === undefined) return { problems, options: null };
  const { texts, flags } = words;
  return {
    problems,
    options: {
      ...{ name, lines, generation, follow: !flags.has("no-follow") },
      ...{ stack: texts.get("stack") ?? null, cwd: texts.get("cwd") ?? process.cwd() },
    },
  };
}
