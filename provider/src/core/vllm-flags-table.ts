import { z } from "zod";
import flags032 from "./vllm-flags-0.32.json";

/**
 * How a flag takes its value. bool: `--x` and `--no-x`; flag: `--x` only; list: several words; commaList: one word with commas;
 * append: one word, given once an item, and a file can give it only once;
 * json: one word of JSON text; unknown: a version without a table, so the value decides.
 */
const flagKindSchema = z.enum([
  "bool",
  "flag",
  "int",
  "float",
  "string",
  "enum",
  "list",
  "commaList",
  "append",
  "json",
  "humanInt",
  "humanIntOrAuto",
  "unknown",
]);
export type FlagKind = z.infer<typeof flagKindSchema>;

/** Long names without dashes in front -> kind. */
export type FlagKinds = ReadonlyMap<string, FlagKind>;

const rowSchema = z.object({
  kind: flagKindSchema,
  /** Kind of a list's items where they are not text. */
  item: z.enum(["int", "json"]).optional(),
  choices: z.array(z.string()).optional(),
  /** What the JSON is; an object where nothing is said. */
  shape: z.literal("list").optional(),
  /** All members that the object can have; nothing is said where vLLM takes any. */
  keys: z.array(z.string()).optional(),
  /** The same of members that are such objects themselves. */
  members: z.record(z.string(), z.array(z.string())).optional(),
  /** start: the parser takes any member, the engine only these, with - for _ where it is written so. */
  judged: z.literal("start").optional(),
  /** Besides JSON it takes any other text. */
  orText: z.boolean().optional(),
  /** Other long names of the same flag. */
  aliases: z.array(z.string()).optional(),
  /** This version still takes it, a later one does not. */
  deprecated: z.boolean().optional(),
});
export type FlagRow = z.infer<typeof rowSchema>;
export type FlagTable = ReadonlyMap<string, FlagRow>;

const tables: readonly { readonly version: RegExp; readonly rows: FlagTable; readonly kinds: FlagKinds }[] = [
  // A build from between two releases can know more or less, so that one is asked.
  table(/^0\.32\.\d+(?:rc\d+|\.post\d+)?(?:\+.*)?$/, flags032),
];

function table(version: RegExp, data: unknown): (typeof tables)[number] {
  const { flags } = z.object({ flags: z.record(z.string(), rowSchema) }).parse(data);
  const rows = new Map(
    Object.entries(flags).flatMap(([name, row]) =>
      [name, ...(row.aliases ?? [])].map((each) => [each, row] as const),
    ),
  );
  return { version, rows, kinds: new Map([...rows].map(([name, row]) => [name, row.kind] as const)) };
}

/** Every long flag of a version, its second names too; null: no table for it, ask the installed vLLM. */
export function flagTableFor(version: string | null): FlagKinds | null {
  return tables.find((each) => version !== null && each.version.test(version))?.kinds ?? null;
}

/** The same with choices and the like. */
export function flagRowsFor(version: string | null): FlagTable | null {
  return tables.find((each) => version !== null && each.version.test(version))?.rows ?? null;
}

/** The table that a declaration is judged by before its host is asked: of the version it names, else the newest; null: there is none. */
export function judgingTable(
  version: string | null,
): { readonly version: string; readonly rows: FlagTable } | null {
  const rows = version === null ? NEWEST_FLAGS : flagRowsFor(version);
  return rows === null ? null : { version: version ?? flags032.versions, rows };
}

/** The newest table: good for naming a flag when the installed version is not known yet, not for refusing one. */
export const NEWEST_FLAGS: FlagTable = tables[0]?.rows ?? new Map<string, FlagRow>();

/** Kinds whose form in the file differs from what the value itself would suggest. */
const DECIDED_BY_KIND: ReadonlySet<FlagKind> = new Set(["json", "list", "commaList", "append", "flag"]);

/**
 * The flags that an installed vLLM without a table told in its help text, negative forms among them. The text does not tell kinds for
 * sure: what the newest table says holds, because no flag has changed between JSON and words; else the value decides.
 */
export function askedFlags(told: readonly string[]): FlagKinds {
  const names = new Set(told);
  return new Map(
    told.map((flag): [string, FlagKind] => {
      if (names.has(`no-${flag}`)) return [flag, "bool"];
      const kind = NEWEST_FLAGS.get(flag)?.kind ?? "unknown";
      return [flag, DECIDED_BY_KIND.has(kind) ? kind : "unknown"];
    }),
  );
}
