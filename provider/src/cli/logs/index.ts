import { VllmServerError } from "../../core/errors";
import { logsResultSchema } from "../../remote/protocol";
import { hostIdentity } from "../../ssh/host-identity";
import { type Command, EXIT, type ExitCode, type Terminal } from "../command";
import { callHost } from "../host-call";
import { failureText } from "../host-failure";
import { refuseWords } from "../refusal";
import { LogsFailure } from "./failure";
import { findServer } from "./find-server";
import { HELP, type LogsOptions, readOptions } from "./options";

export const logsCommand: Command = {
  name: "logs",
  summary: "the log of a server of a stack, and what it goes on to print",
  help: HELP,
  run: runLogs,
};

/** Timers of Node take no more than 24 days. */
const LONGEST_SECONDS = 20 * 24 * 3600;

async function runLogs(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { problems, options } = readOptions(words);
  if (options === null) return refuseWords("logs", problems, terminal, { isJson: false });
  const ending = new AbortController();
  const end = (): void => {
    ending.abort();
  };
  process.once("SIGINT", end).once("SIGTERM", end);
  try {
    await show(options, terminal, ending.signal);
    return EXIT.done;
  } catch (error) {
    if (ending.signal.aborted) return EXIT.done;
    if (!(error instanceof VllmServerError || error instanceof LogsFailure)) throw error;
    terminal.err(failureText(error.message));
    return EXIT.failed;
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end);
  }
}

async function show(options: LogsOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const { lines, follow, generation } = options;
  const { name, serverId, host } = await findServer(options.name, options);
  await callHost(host, {
    operation: { op: "logs", serverId, lines, follow, generation },
    resultSchema: logsResultSchema,
    deadlineSeconds: LONGEST_SECONDS,
    signal,
    onEvent: (event) => {
      if (event.event === "log") terminal.out(event.lines.map((line) => `${line}\n`).join(""));
      if (event.event === "generation")
        terminal.err(`--- ${name} on ${hostIdentity(host)}, start ${String(event.generation)}\n`);
    },
  });
}
