import { EXIT, type ExitCode, type Terminal } from "./command";

/** What `--json` promises of an error. */
export function failureJson({ code, message }: { readonly code: string; readonly message: string }): string {
  return `${JSON.stringify({ error: { code, message } })}\n`;
}

/** Tells all that is wrong with the words behind a command. */
export function refuseWords(
  command: string,
  problems: readonly string[],
  terminal: Terminal,
  { isJson }: { readonly isJson: boolean },
): ExitCode {
  if (isJson) terminal.out(failureJson({ code: "usage", message: problems.join("; ") }));
  const lines = problems.map((problem) => `pulumi-vllm ${command}: ${problem}\n`);
  terminal.err(`${lines.join("")}pulumi-vllm ${command} --help says more.\n`);
  return EXIT.usage;
}
