import { describe, expect, test } from "vitest";
import { fromCommand, Rejected } from "../../provider/src/core/from-command";
import { FROM_COMMAND_CASES } from "../support/from-command-cases";

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
