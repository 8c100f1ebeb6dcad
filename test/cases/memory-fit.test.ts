import { test } from "vitest";
import { measured, memoryFitCases } from "../support/memory-fit-cases";
test("x", () => {
  for (const [name, one] of memoryFitCases())
    for (const m of measured(name, one))
      console.log(
        name.padEnd(22),
        m.quantity.padEnd(20),
        (m.error * 100).toFixed(1) + "%",
        m.estimated > 1e8 ? (m.estimated / 2 ** 30).toFixed(2) : m.estimated,
        m.told > 1e8 ? (m.told / 2 ** 30).toFixed(2) : m.told,
      );
});
