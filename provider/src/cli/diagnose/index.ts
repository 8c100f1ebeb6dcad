import { type Diagnosis, LogReading } from "../../core/diagnose";
import { type Command, EXIT, type ExitCode, type Terminal } from "../command";
import { failureJson, refuseWords } from "../refusal";
import { DiagnoseFailure } from "./failure";
import { logBytes, nameOf } from "./log-bytes";
import { type DiagnoseOptions, HELP, readOptions } from "./options";
import { asJson, asText } from "./report";

export const diagnoseCommand: Command = {
  name: "diagnose",
  summary: "why a vLLM server failed, from its log, without a host",
  help: HELP,
  run: runDiagnose,
};

async function runDiagnose(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { problems, options } = readOptions(words);
  if (options === null)
    return refuseWords("diagnose", problems, terminal, { isJson: words.includes("--json") });
  try {
    const diagnosis = await diagnoseLog(options);
    terminal.out(options.isJson ? asJson(diagnosis) : asText(diagnosis));
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof DiagnoseFailure)) throw error;
    if (options.isJson) terminal.out(failureJson(error));
    else terminal.err(`${error.message}\n`);
    return EXIT.failed;
  }
}

/** Fails with DiagnoseFailure. */
async function diagnoseLog({ file, exitCode }: DiagnoseOptions): Promise<Diagnosis> {
  const reading = new LogReading();
  let isEmpty = true;
  for await (const piece of logBytes(file)) {
    reading.feed(piece);
    isEmpty &&= piece.every((byte) => byte <= 0x20);
  }
  // How it ended says something without a word in the log.
  if (isEmpty && exitCode === null)
    throw new DiagnoseFailure(
      "log-empty",
      `Cannot diagnose ${nameOf(file)}: it is empty, need the log of a start, or --exit-code`,
    );
  return reading.diagnosis({ exitCode, signal: null });
}
