import { describe, expect, it } from "vitest";
import { askStandInParser } from "../support/stand-in/ask-parser";
import { TRAPS } from "../vllm/parser-traps";

describe("the stand-in's parser has vLLM's traps", () => {
  const answers = askStandInParser(TRAPS.map(({ yaml, words }) => ({ yaml, words })));
  it.each(TRAPS.map((trap, index) => ({ ...trap, index })))(
    "$trap",
    ({ index, byHand: { error, ...values } }) => {
      const answer = answers[index];
      if (error === null) expect(answer?.error).toBeNull();
      else expect(answer?.error).toContain(error);
      expect(answer?.values).toMatchObject(values);
    },
  );
});
