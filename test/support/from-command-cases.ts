import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";

const schema = z.object({
  form: z.enum(["shell", "unit", "compose"]),
  command: z.string(),
  argv: z.array(z.string()).nullable(),
  parses032: z.union([z.literal(true), z.string()]).nullable(),
  expect: z.looseObject({
    rejected: z.union([z.literal(false), z.string()]),
    secrets: z.array(z.string()),
    notes: z.array(z.string()),
  }),
});

export type FromCommandCase = z.infer<typeof schema> & { readonly name: string };

const FOLDERS = [
  resolve(import.meta.dirname, "../../../shared/cases/from-command"),
  resolve(import.meta.dirname, "../cases/from-command"),
];

/** The shared cases, where they are, and our own, in the same form. */
export const FROM_COMMAND_CASES: readonly FromCommandCase[] = FOLDERS.filter((folder) =>
  existsSync(folder),
).flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => ({ name, ...schema.parse(JSON.parse(readFileSync(join(folder, name), "utf8"))) })),
);
