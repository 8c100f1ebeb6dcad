import { fromCommand, Rejected, rejectionText } from "../../core/from-command";
import { type Command, EXIT, type ExitCode, type Terminal } from "../command";
import { failureJson, refuseWords } from "../refusal";
import { HELP, readOptions } from "./options";
import { asConfig, asJson, asProgram, notesText } from "./report";
import { isFile, TextFailure, textOf } from "../text-source";

export const fromCommandCommand: Command = {
  name: "from-command",
  summary: "a VllmServer of the command, unit or compose file that starts vLLM today",
  help: HELP,
  run: runFromCommand,
};

async function runFromCommand(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { problems, options } = readOptions(words);
  const isJson = words.includes("--json");
  if (options === null) return refuseWords("from-command", problems, terminal, { isJson });
  try {
    const conversion = await fromCommand(await launchText(options.text));
    if (options.form === "json") terminal.out(asJson(conversion));
    else {
      terminal.out(options.form === "yaml" ? asConfig(conversion, options) : asProgram(conversion, options));
      terminal.err(notesText(conversion, options));
    }
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof Rejected || error instanceof TextFailure)) throw error;
    const message = error instanceof Rejected ? rejectionText(error) : error.message;
    if (isJson) terminal.out(failureJson({ code: error.code, message }));
    else terminal.err(`${message}\n`);
    return EXIT.failed;
  }
}

/** The text itself where it is one, else what stands in the file. A command has blanks or lines; a file of such a name would be a strange one. */
async function launchText(given: string): Promise<string> {
  const isName = given === "-" || !/\s/.test(given) || (await isFile(given));
  return isName ? await textOf(given, "a command that starts vLLM") : given;
}
