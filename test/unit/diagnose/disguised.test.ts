import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Diagnosis, diagnose } from "../../../provider/src/core/diagnose";
import { LIFE_ENDINGS } from "../../../provider/src/core/diagnose/rules/endings";
import { CONTAINERS, type Disguise, LOGGERS, NOISE } from "./disguises";

interface Case {
  readonly id: string;
  readonly log: string;
  readonly kernel?: readonly string[];
  readonly exitCode: number | null;
  readonly truth: { readonly code: string };
}

const folder = join(import.meta.dirname, "../../cases/diagnosis");
const cases = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name): Case => JSON.parse(readFileSync(join(folder, name), "utf8")));

function diagnosed({ exitCode, kernel, log: own }: Case, log = own): Diagnosis {
  return diagnose({ log, exitCode, signal: null, kernel });
}

/** id and what was found, where that is not the truth. */
function wrong(disguise: (log: string) => string, among = cases): readonly string[] {
  return among.flatMap((one) => {
    const { cause } = diagnosed(one, disguise(one.log));
    return cause === one.truth.code ? [] : [`${one.id}: ${cause}, not ${one.truth.code}`];
  });
}

describe("the cause is the same, and a healthy start is none, with", () => {
  test.each(Object.entries({ ...NOISE, ...LOGGERS, ...CONTAINERS }))("%s", (_name, disguise) => {
    expect(wrong(disguise)).toEqual([]);
  });
});

/** Told by the lines above the proof, which many lines in between push out of what is looked back on. */
const BY_LINES_ABOVE: ReadonlySet<string> = new Set([
  "own-tp-assert-source",
  "own-weight-shape-assert-carets",
  "own-internal-port-get-open-port",
  "own-transformers-keyerror",
  "own-extra-special-tokens-list",
  // Its only words are those that colours go between.
  "own-ucx-without-prefix",
]);
const byTheirLine = cases.filter(({ id }) => !BY_LINES_ABOVE.has(id));
const oneOf = (disguises: Readonly<Record<string, Disguise>>): fc.Arbitrary<string | null> =>
  fc.option(fc.constantFrom(...Object.keys(disguises)), { freq: 3 });

test("what is printed beside, a logger and a container on top of each other change no cause", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...byTheirLine),
      oneOf(NOISE),
      oneOf(LOGGERS),
      oneOf(CONTAINERS),
      (one, noise, logger, container) => {
        const all = [NOISE[noise ?? ""], LOGGERS[logger ?? ""], CONTAINERS[container ?? ""]];
        const log = all.reduce((text, disguise) => disguise?.(text) ?? text, one.log);
        expect([one.id, diagnosed(one, log).cause]).toEqual([one.id, one.truth.code]);
      },
    ),
    { numRuns: 3000 },
  );
});

/** What is concluded from the end alone needs the whole log: that nothing in it says more. */
const endings: readonly string[] = LIFE_ENDINGS.map(({ summary }) => summary);
const told = cases.filter((one) => {
  const { logLine, summary } = diagnosed(one);
  return logLine !== null && !endings.includes(summary) && one.truth.code !== "UNKNOWN";
});
/** So many lines before the proof belong to it: the source that raised it, the header above it. */
const BEFORE_PROOF = 12;

test("a log whose head is cut off, in the middle of a line too, says the same while the proof is there", () => {
  fc.assert(
    fc.property(fc.constantFrom(...told), fc.double({ min: 0, max: 1, noNaN: true }), (one, share) => {
      const lines = one.log.split("\n");
      const proof = diagnosed(one).logLine ?? 1;
      const from = Math.floor(share * Math.max(0, proof - BEFORE_PROOF));
      const kept = lines.slice(from);
      const [first = "", ...rest] = kept;
      const cut = from > 0 ? first.slice(Math.floor(first.length * share)) : first;
      expect([one.id, diagnosed(one, [cut, ...rest].join("\n")).cause]).toEqual([one.id, one.truth.code]);
    }),
    { numRuns: 2000 },
  );
});

/** Its evidence is a warning with the number of bytes; what proves that they were too few comes later. */
const TOLD_BEFORE_PROVEN = "bus-error-docker-shm-64m";
/** Of one that ended with 0 or still runs, what comes after the proof shows that it failed at all. */
const ended = told.filter(
  ({ id, exitCode, truth }) =>
    id !== TOLD_BEFORE_PROVEN && ((exitCode ?? 0) !== 0 || truth.code === "NO_FAILURE"),
);

test("a log whose tail is cut off says the same while the proof is there", () => {
  fc.assert(
    fc.property(fc.constantFrom(...ended), fc.double({ min: 0, max: 1, noNaN: true }), (one, share) => {
      const lines = one.log.split("\n");
      const proof = diagnosed(one).logLine ?? 1;
      const kept = proof + Math.floor(share * (lines.length - proof));
      expect([one.id, diagnosed(one, lines.slice(0, kept).join("\n")).cause]).toEqual([
        one.id,
        one.truth.code,
      ]);
    }),
    { numRuns: 2000 },
  );
});
