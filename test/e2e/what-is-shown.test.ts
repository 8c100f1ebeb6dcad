import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { joinedError } from "../support/joined-errors";
import { upByProgram, upInCi, upInTerminal } from "../support/pulumi-shown";

/** The same words reach a person in the log of CI, in a terminal, and through the Automation API. */

const ESTIMATE = expect.stringMatching(
  /^about 0\.0 GiB of weights on each GPU, and [\d,]+ tokens of KV cache, .* \(an estimate\)$/,
);
const NOT_AT_BOOT = expect.stringMatching(/^it will not start at boot, .*`pulumi up --refresh` starts it/);
const READY = expect.stringMatching(
  /^ready in \d+ s: start \d+; 256 tokens, KV cache bfloat16, [\d.]+x concurrency$/,
);
const RESTART = expect.stringMatching(
  /^restart: engine\.maxNumSeqs \(not set\) -> 8; down about \d+ s \(last start took \d+ s\)$/,
);

let bed: GpuHost;
let inputs: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  bed = await gpuHost();
  inputs = { ...(await bed.tinyServer(2)), update: { returnToLastGood: false } };
});

afterAll(async () => {
  await bed.close();
});

/** Differs from one machine that the tests run on to another. */
const LACKS = /^no .* on the host; needed by /;

/** Lines under Diagnostics about the server. */
function wordsAtTheEnd(output: string): readonly string[] {
  const [, below = ""] = output.split(/^ +pulumi-nodejs:dynamic\/vllm:VllmServer \(chat\):\n/m);
  const lines = (below.split("\n\n")[0] ?? "").split("\n").map((line) => line.trim());
  return lines.filter((line) => !LACKS.test(line));
}

test("in a terminal: no line of the table is wider than it, and the words at the end are whole", async () => {
  await bed.declare({ chat: inputs });
  const { code, output } = await upInTerminal(bed.project, 120);
  expect(code, output).toBe(0);
  const plain = stripVTControlCharacters(output).replaceAll("\r", "");
  const [table = "", end = ""] = plain.split("Diagnostics:");
  expect(table).toContain("waiting for the first answer");
  expect(table).toContain("ready in ");
  expect(Math.max(...table.split("\n").map((line) => line.length))).toBeLessThan(120);
  expect(wordsAtTheEnd(end)).toEqual([ESTIMATE, NOT_AT_BOOT, READY]);
});

test("without a terminal: plain lines, none told twice, and the words at the end are whole", async () => {
  await bed.declare({ chat: { ...inputs, engine: { maxNumSeqs: 8 } } });
  const { code, output } = await upInCi(bed.project);
  expect(code, output).toBe(0);
  expect(stripVTControlCharacters(output)).toBe(output);
  expect(output).not.toMatch(/[\r\t\b]/);
  expect(wordsAtTheEnd(output)).toEqual([RESTART, ESTIMATE, NOT_AT_BOOT, READY]);
  const told = [...output.matchAll(/VllmServer chat updating \(\d+s\) \[diff: \+engine\]; (.*)$/gm)];
  const texts = told.map(([, text = ""]) => text);
  expect(texts.length).toBeGreaterThan(5);
  expect(texts).toEqual([...new Set(texts)]);
});

test("through the Automation API: a failed start's cause and change are in an event and in what is thrown", async () => {
  const environment = { STAND_IN_START_SECONDS: "2", STAND_IN_FAIL: "oom" };
  await bed.declare({ chat: { ...inputs, environment } });
  const { rejection, output, events } = await upByProgram(bed.project);
  const said = (severity: string): readonly string[] =>
    events.flatMap(({ diagnosticEvent: event }) =>
      event?.severity === severity && event.ephemeral !== true && event.urn?.endsWith("::chat") === true
        ? [event.message]
        : [],
    );
  const words = said("info").map((message) => message.trimEnd());
  // How it is looked after from now on is not told of a start that failed.
  expect(words.filter((line) => !LACKS.test(line))).toEqual([
    expect.stringMatching(/^restart: engine\.maxNumSeqs 8 -> \(not set\), environment\.STAND_IN_FAIL added/),
    ESTIMATE,
  ]);
  const errors = said("error");
  expect(errors.map(joinedError)).toEqual([
    expect.stringMatching(
      /^1 error occurred:\n\t\* Cannot start server "chat" on .*: the GPU has too little memory .*\n {2}proof: .*\n {2}change: engine\..*\n {2}log: {4}ssh .*\n/,
    ),
  ]);
  const [first = ""] = errors;
  for (const line of first.trim().split("\n").slice(1))
    for (const place of [rejection?.message, output]) expect(place).toContain(line);
});
