import { type Command, EXIT, type ExitCode, type Terminal } from "../command";
import { failureJson, refuseWords } from "../refusal";
import { HELP, readOptions } from "./options";
import { isFailure } from "./failure";
import { patchFolder } from "./patch-folder";
import { asJson, asText } from "./report";

export const patchCommand: Command = {
  name: "patch",
  summary: "what a checkpoint's configs become for a wished KV-cache dtype, without a host",
  help: HELP,
  run: runPatch,
};

function runPatch(words: readonly string[], terminal: Terminal): ExitCode {
  const { problems, options } = readOptions(words);
  const isJson = words.includes("--json");
  if (options === null) return refuseWords("patch", problems, terminal, { isJson });
  try {
    const patched = patchFolder(options);
    terminal.out(isJson ? asJson(patched) : asText(options, patched));
    return EXIT.done;
  } catch (error) {
    if (!isFailure(error)) throw error;
    if (isJson) terminal.out(failureJson(error));
    else terminal.err(`${error.message}\n`);
    return EXIT.failed;
  }
}
