import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  measured,
  memoryFitCases,
  type Measured,
  QUANTITIES,
  type Quantity,
} from "../support/memory-fit-cases";

/** How far an estimate may be off, in parts of what a log told; memory in parts of the GPU's. */
const BOUNDS: Readonly<Record<Quantity, number>> = {
  weights: 0.05,
  "KV bytes per token": 0.005,
  "KV tokens": 0.06,
  "KV memory": 0.06,
};
/** Whose weights in the checkpoint are not those that are loaded. */
const WEIGHTS_NOT_LOADED: Readonly<Record<string, number>> = { "qwen3-0.6b": 0.26 };

const CASES = memoryFitCases();
const ALL = CASES.flatMap(([name, one]) => measured(name, one));

describe.each(CASES)("%s", (name, one) => {
  test.each(measured(name, one).map((row) => [row.quantity, row] as const))("%s", (quantity, row) => {
    const bound = quantity === "weights" ? (WEIGHTS_NOT_LOADED[name] ?? BOUNDS[quantity]) : BOUNDS[quantity];
    expect(Math.abs(row.error)).toBeLessThanOrEqual(bound);
  });

  test("has something to compare", () => {
    expect(measured(name, one).length).toBeGreaterThan(0);
  });
});

test("docs/memory-fit.md tells the measured error", () => {
  const doc = readFileSync(join(import.meta.dirname, "../../docs/memory-fit.md"), "utf8");
  const rows = doc.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  expect(
    rows.flatMap(([, quantity, cases, mean, worst]) =>
      isQuantity(quantity) ? [[quantity, cases, mean, worst]] : [],
    ),
  ).toEqual(QUANTITIES.map(summary));
});

function isQuantity(text: string | undefined): text is Quantity {
  return QUANTITIES.some((quantity) => quantity === text);
}

function summary(quantity: Quantity): readonly string[] {
  const errors = ALL.filter((row: Measured) => row.quantity === quantity).map(({ error }) => Math.abs(error));
  const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
  return [quantity, String(errors.length), percent(mean), percent(Math.max(...errors))];
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}
