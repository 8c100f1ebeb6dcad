import { readWords } from "../words";

export interface DiagnoseOptions {
  /** "-": standard input. */
  readonly file: string;
  /** How vLLM's API server ended; null: not known, or it still runs. */
  readonly exitCode: number | null;
  readonly isJson: boolean;
}

export const HELP = `usage: pulumi-vllm diagnose FILE|- [--exit-code N] [--json]

Says why a vLLM server failed, from its log alone: the cause, the line that
proves it, and what to change. FILE is the log of one start, from any vLLM and
however it was started; - reads it from standard input. gzip is understood. A
log of any size takes the same memory.

  --exit-code N   how the process ended, as a shell tells it: 137 or -9 for
                  SIGKILL. Without it a log that says of no failure is one of
                  a server that runs
  --json          one JSON object on stdout:
                    {"failure": true or false, "code", "cause",
                     "evidence": {"line", "text"} or null,
                     "change": text or null, "values": {NAME: value},
                     "retryable": true or false}
                  or {"error": {"code", "message"}}. code is one of the closed
                  list in docs/failures.md, UNKNOWN or NO_FAILURE

A log that was rotated is one again when its parts are read in order:

  zcat -f vllm.log.2.gz vllm.log.1 vllm.log | pulumi-vllm diagnose -

exit code: 0 the log could be judged: a failure that was found is a result, not
an error; 1 it could not be read; 2 the command line is not right (all of its
problems are told)
`;

const OPTIONS = {
  "exit-code": { type: "string" },
  json: { type: "boolean" },
} as const;

export interface ReadOptions {
  readonly problems: readonly string[];
  /** null: there are problems. */
  readonly options: DiagnoseOptions | null;
}

export function readOptions(given: readonly string[]): ReadOptions {
  const words = readWords(given, OPTIONS);
  const [file, ...surplus] = words.positionals;
  const problems = [...words.problems];
  if (file === undefined || file === "") problems.push("FILE, the log, is missing (- is standard input)");
  for (const word of surplus) problems.push(`${JSON.stringify(word)} is one word too many`);
  const text = words.texts.get("exit-code");
  const exitCode = text === undefined ? null : Number(text);
  if (text !== undefined && !isExitCode(text))
    problems.push(`--exit-code is ${JSON.stringify(text)}, need a whole number from -64 to 255`);
  if (problems.length > 0 || file === undefined) return { problems, options: null };
  return { problems, options: { file, exitCode, isJson: words.flags.has("json") } };
}

/** Of a shell, or below 0 the number of a signal as Python tells it. */
function isExitCode(text: string): boolean {
  return /^-?\d{1,3}$/.test(text) && Number(text) >= -64 && Number(text) <= 255;
}
