import { beforeAll, describe, expect, it } from "vitest";
import { neighbourOf, type Fleet, type Run } from "./fleet";
import { PLACES } from "./places";
import type { Traces } from "./site";

/** @param alone what the neighbours alone had left before the servers came; @param empty what there was before anything */
export function describeEnding(
  fleetOf: () => Fleet,
  alone: Map<string, Traces>,
  empty: Map<string, Traces>,
): void {
  describe("destroy", () => {
    let run: Run;

    describe("of one of two servers of a user", () => {
      beforeAll(async () => {
        await fleetOf().declare(() => null);
        run = await fleetOf().run("up");
      });

      it.each(PLACES)(
        "$title: leaves what was there before it came, and its neighbour as it was",
        ({ name }) => {
          expect(run.said(name)).toMatch(/stopped in/);
          const {
            processes: _,
            sharedMemory: shared,
            ...before
          } = alone.get(name) ?? { processes: [], sharedMemory: [] };
          const { processes: __, sharedMemory, ...after } = fleetOf().site(name).traces();
          expect(after).toEqual(before);
          expect(sharedMemory).toHaveLength(shared.length);
          expect(fleetOf().processes(name)).toEqual([]);
          expect(fleetOf().processes(neighbourOf(name)).length).toBeGreaterThan(2);
        },
      );
    });

    describe("of the last one", () => {
      beforeAll(async () => {
        run = await fleetOf().run("destroy");
      });

      it.each(PLACES)(
        "$title: leaves no process, unit, link, shared memory, temporary file or state, and the GPUs' memory is back",
        ({ name }) => {
          expect(run.code).toBe(0);
          expect(fleetOf().site(name).traces()).toEqual(empty.get(name));
        },
      );
    });
  });
}
