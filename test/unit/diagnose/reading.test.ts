import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Diagnosis, diagnose, LogReading } from "../../../provider/src/core/diagnose";

interface Case {
  readonly log: string;
  readonly exitCode: number | null;
}

const folder = join(import.meta.dirname, "../../cases/diagnosis");
const cases = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name): Case => JSON.parse(readFileSync(join(folder, name), "utf8")));

function read(pieces: Iterable<Uint8Array>, exitCode: number | null): Diagnosis {
  const reading = new LogReading();
  for (const piece of pieces) reading.feed(piece);
  return reading.diagnosis({ exitCode, signal: null });
}

/** Whatever a piece can end within: line ends of both kinds, progress bars, characters of several bytes, colours. */
const DISGUISES: readonly ((log: string) => string)[] = [
  (log) => log,
  (log) => log.replaceAll("\n", "\r\n"),
  (log) => log.replaceAll("\n", "\nLoading: 38% |███▊| 1/2\rLoading: 39% |███▉| 1/2\r\n"),
  (log) => log.replace(/\b(ERROR|INFO|Error)\b/g, "\u001b[1;31m$1\u001b[0m"),
];

test("a log that comes in pieces, cut anywhere, is diagnosed like the whole", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...cases),
      fc.constantFrom(...DISGUISES),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 }),
      ({ log, exitCode }, disguise, shares) => {
        const text = disguise(log);
        const whole = new TextEncoder().encode(text);
        const places = [0, ...shares.map((share) => Math.floor(share * whole.length)), whole.length];
        const cuts = places.sort((one, other) => one - other);
        const pieces = cuts.slice(1).map((place, index) => whole.subarray(cuts[index], place));
        expect(read(pieces, exitCode)).toEqual(diagnose({ log: text, exitCode, signal: null }));
      },
    ),
    { numRuns: 500 },
  );
});

test("a log that comes byte by byte is diagnosed like the whole", () => {
  for (const disguise of DISGUISES) {
    const log = disguise(cases[0]?.log ?? "");
    const bytes = new TextEncoder().encode(log);
    const pieces = Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1));
    expect(read(pieces, 1)).toEqual(diagnose({ log, exitCode: 1, signal: null }));
  }
});

test("a proof behind 50 MB without an end of line is found, in little memory", () => {
  const filling = new TextEncoder().encode("x none of it ends ".repeat(60_000));
  const proof = new TextEncoder().encode("\nValueError: No available memory for the cache blocks.\n");
  function* pieces(): Generator<Uint8Array> {
    for (let megabytes = 0; megabytes < 50; megabytes++) yield filling;
    yield proof;
  }
  const before = process.memoryUsage().arrayBuffers;
  expect(read(pieces(), 1)).toMatchObject({ cause: "KV_CACHE_NO_MEMORY", logLine: 2 });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20e6);
});

test("what stands before a proof counts although it came in an earlier piece", () => {
  const source = "    assert param_data.shape == loaded_weight.shape\n";
  const log = `Traceback (most recent call last):\n${source}AssertionError\n`;
  const at = log.indexOf("Assertion");
  const bytes = new TextEncoder().encode(log);
  expect(read([bytes.subarray(0, at), bytes.subarray(at)], 1).cause).toBe("CHECKPOINT_MODEL_MISMATCH");
});

test("words that are no exception, a million of them, hide none", () => {
  const noise =
    "(APIServer pid=1) ERROR 12-01 10:00:00 [x.py:1] request failed with InternalServerError and more\n";
  const log = `${noise.repeat(50_000)}(EngineCore pid=9) ERROR 12-01 10:00:00 [core.py:1] EngineCore failed to start.\n(EngineCore pid=9) ERROR 12-01 10:00:00 [core.py:1] ZeroDivisionError: division by zero\n`;
  expect(diagnose({ log, exitCode: 1, signal: null })).toMatchObject({
    summary: "vLLM failed with: ZeroDivisionError: division by zero",
    logLine: 50_002,
  });
});
