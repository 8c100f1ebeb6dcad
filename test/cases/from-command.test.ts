import { describe, expect, test } from "vitest";
import { fromCommand, launchIn, Rejected } from "../../provider/src/core/from-command";
import { isKnown } from "../../provider/src/core/from-command/given-word";
import { Notes } from "../../provider/src/core/from-command/note";
import { FROM_COMMAND_CASES } from "../support/from-command-cases";

const reached = FROM_COMMAND_CASES.flatMap(({ name, command, argv }) =>
  argv === null ? [] : [{ name, command, argv }],
);

describe.skipIf(FROM_COMMAND_CASES.length === 0)("the words that vLLM itself gets of them", () => {
  test.each(reached)("$name", async ({ command, argv }) => {
    const { words } = await launchIn(command, new Notes());
    // A variable that nobody sets is no word at all for a real shell, and may be one or several for us.
    const sure = words.filter((word) => isKnown(word) || argv.includes(word.text));
    expect(sure.map(({ text }) => text)).toEqual(argv);
  });
});

describe.skipIf(FROM_COMMAND_CASES.length === 0)("texts that start vLLM, as people post them", () => {
  test.each(FROM_COMMAND_CASES)("$name", async ({ command, expect: wanted }) => {
    const { rejected, notes: wantedNotes, secrets: wantedSecrets, ...wantedInputs } = wanted;
    if (rejected !== false) {
      const error: unknown = await fromCommand(command).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Rejected);
      expect(error instanceof Rejected ? `${error.code} ${error.subject}` : null).toBe(rejected);
      return;
    }
    const { inputs, secrets, notes } = await fromCommand(command);
    expect(inputs).toEqual(wantedInputs);
    expect(secrets).toEqual([...wantedSecrets].sort());
    const told = new Set(notes.map(({ code, subject }) => `${code} ${subject}`));
    expect(wantedNotes.map((note) => note.replace(/:.*$/s, "")).filter((note) => !told.has(note))).toEqual(
      [],
    );
  });
});
