import { describe, expect, it } from "vitest";
import type { Finding } from "../../../provider/src/core/finding";
import { found, type Situation } from "./examples";

interface Example {
  readonly fires: Situation;
  readonly finding: Finding;
  /** As near to it as can be without being it, and what is not known. */
  readonly misses: Readonly<Record<string, Situation>>;
}

export type TitledExample = readonly [string, Example];

/** Each is told alone where it fires, and nothing is where it does not. */
export function describeExamples(examples: readonly TitledExample[]): void {
  describe.each(examples)("%s", (_title, { fires, finding, misses }) => {
    it("is told, and nothing beside it", () => {
      expect(found(fires)).toEqual([finding]);
    });

    it.each(Object.entries(misses))("is not: %s", (_name, situation) => {
      expect(found(situation)).toEqual([]);
    });
  });
}
