import { surveyFindings } from "../../core/doctor";
import { VllmServerError } from "../../core/errors";
import { isError } from "../../core/finding";
import { hostSurveySchema } from "../../core/observed-survey";
import { type Command, EXIT, type ExitCode, type Terminal } from "../command";
import { callHost } from "../host-call";
import { failureText } from "../host-failure";
import { failureJson, refuseWords } from "../refusal";
import { type DoctorOptions, HELP, readOptions } from "./options";
import { asJson, asText } from "./report";

export const doctorCommand: Command = {
  name: "doctor",
  summary: "what a host is and has for vLLM, and what speaks against a start there",
  help: HELP,
  run: runDoctor,
};

/** A login shell and nvidia-smi can be slow, and a vLLM whose version nothing tells is asked for it. */
const DEADLINE_SECONDS = 180;

async function runDoctor(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { problems, options } = readOptions(words);
  if (options === null)
    return refuseWords("doctor", problems, terminal, { isJson: words.includes("--json") });
  try {
    return await examine(options, terminal);
  } catch (error) {
    if (!(error instanceof VllmServerError)) throw error;
    if (options.isJson) terminal.out(failureJson(error));
    else terminal.err(failureText(error.message));
    return EXIT.failed;
  }
}

async function examine({ host, isJson }: DoctorOptions, terminal: Terminal): Promise<ExitCode> {
  const from = new Date();
  const survey = await callHost(host, {
    operation: { op: "survey" },
    resultSchema: hostSurveySchema,
    deadlineSeconds: DEADLINE_SECONDS,
  });
  const findings = surveyFindings(survey, { from, to: new Date() });
  terminal.out(isJson ? asJson(survey, findings) : asText(survey, findings));
  return findings.some(isError) ? EXIT.failed : EXIT.done;
}
