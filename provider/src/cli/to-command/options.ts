import { readWords } from "../words";

export interface ToCommandOptions {
  /** "-": standard input. */
  readonly file: string;
}

export const HELP = `usage: pulumi-vllm to-command FILE|-

The \`vllm serve\` line that a set of inputs runs, for trying it by hand on the
host. FILE holds the inputs of one VllmServer as YAML or JSON, with or without
host: an entry of the stacks' config, what from-command --json prints, or the
inputs of \`pulumi stack export\`; - reads them from standard input.

The line is for bash. Secrets are not in it: it takes them from variables of the
shell, and fails where one is not set. They are named on stderr, with what the
resource does and the line does not.

exit code: 0 done; 1 the inputs are not right (all of their problems are told);
2 the command line is not right
`;

export interface ReadOptions {
  readonly problems: readonly string[];
  /** null: there are problems. */
  readonly options: ToCommandOptions | null;
}

export function readOptions(given: readonly string[]): ReadOptions {
  const { positionals, problems: unread } = readWords(given, {});
  const [file, ...surplus] = positionals;
  const problems = [...unread];
  if (file === undefined || file === "") problems.push("FILE, the inputs, is missing (- is standard input)");
  for (const word of surplus) problems.push(`${JSON.stringify(word)} is one word too many`);
  if (problems.length > 0 || file === undefined) return { problems, options: null };
  return { problems, options: { file } };
}
