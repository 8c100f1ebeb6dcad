import { commandLine } from "../../core/to-command";
import { wrapText } from "../../core/wrap-text";
import { type Command, EXIT, type ExitCode, type Terminal } from "../command";
import { refuseWords } from "../refusal";
import { TextFailure } from "../text-source";
import { declarationIn } from "./inputs-file";
import { HELP, readOptions } from "./options";

export const toCommandCommand: Command = {
  name: "to-command",
  summary: "the vllm serve line that a set of inputs runs, for trying it by hand",
  help: HELP,
  run: runToCommand,
};

const COLUMNS = 80;

async function runToCommand(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { problems, options } = readOptions(words);
  if (options === null) return refuseWords("to-command", problems, terminal, { isJson: false });
  try {
    const { text, secrets, remarks } = commandLine(await declarationIn(options.file));
    terminal.out(text);
    if (secrets.length > 0) terminal.err(`set first, as variables of the shell: ${secrets.join(", ")}\n`);
    for (const remark of remarks) terminal.err(`${wrapText(remark, { width: COLUMNS, indent: 2 })}\n`);
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof TextFailure)) throw error;
    terminal.err(`${error.message}\n`);
    return EXIT.failed;
  }
}
