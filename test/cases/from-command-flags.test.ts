import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { engineInputs } from "../../provider/src/core/from-command/engine-inputs";

const folder = resolve(import.meta.dirname, "../../../shared/cases/from-command");
const schema = z.object({
  argv: z.array(z.string()),
  expect: z.object({
    rejected: z.union([z.literal(false), z.string()]),
    engine: z.record(z.string(), z.unknown()).default({}),
    extraArgs: z.record(z.string(), z.unknown()).default({}),
  }),
});
const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
const cases = names.flatMap((name) => {
  const one = schema.safeParse(JSON.parse(readFileSync(join(folder, name), "utf8")));
  return one.success && one.data.expect.rejected === false ? [{ name, ...one.data }] : [];
});

describe.skipIf(cases.length === 0)("the words of pasted commands as engine and extraArgs", () => {
  test.each(cases)("$name", ({ argv, expect: wanted }) => {
    const { engine, extraArgs } = engineInputs(argv);
    expect({ engine, extraArgs }).toEqual({ engine: wanted.engine, extraArgs: wanted.extraArgs });
  });
});
