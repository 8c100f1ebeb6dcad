import { type GivenWord, withText } from "./given-word";
import { type Notes, Rejected } from "./note";
import { type FlagRow, NEWEST_FLAGS } from "../vllm-flags-table";
import { REMOVED_FLAGS } from "../vllm-flags-removed";

/** A flag as it was written, with the words that it was given. */
export interface WrittenFlag {
  /** Long name without dashes; `no-x` stays so. */
  readonly flag: string;
  /** Row of 0.32, or of the table of flags that are gone; null: neither knows it. */
  readonly row: FlagRow | null;
  readonly isRemoved: boolean;
  /** Below the flag: `a.b` of `--flag.a.b`, empty: the flag itself. */
  readonly members: readonly string[];
  /** `--flag.a+`: an element of a list. */
  readonly isElement: boolean;
  readonly values: readonly GivenWord[];
  /** With its dashes, for notes. */
  readonly written: string;
}

export interface WrittenWords {
  readonly positionals: readonly GivenWord[];
  readonly flags: readonly WrittenFlag[];
}

/** Short names. Source: vLLM 0.32.0 `vllm serve` parser, compared with it by a test. */
export const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ["-tp", "tensor-parallel-size"],
  ["-pp", "pipeline-parallel-size"],
  ["-dp", "data-parallel-size"],
  ["-dpn", "data-parallel-rank"],
  ["-dpr", "data-parallel-start-rank"],
  ["-dpl", "data-parallel-size-local"],
  ["-dpa", "data-parallel-address"],
  ["-dpp", "data-parallel-rpc-port"],
  ["-dpb", "data-parallel-backend"],
  ["-dph", "data-parallel-hybrid-lb"],
  ["-dpe", "data-parallel-external-lb"],
  ["-dpm", "data-parallel-multi-port-external-lb"],
  ["-dcp", "decode-context-parallel-size"],
  ["-pcp", "prefill-context-parallel-size"],
  ["-ep", "enable-expert-parallel"],
  ["-n", "nnodes"],
  ["-r", "node-rank"],
  ["-q", "quantization"],
  ["-asc", "api-server-count"],
  ["-cc", "compilation-config"],
  ["-sc", "speculative-config"],
  ["-ac", "attention-config"],
  ["-dc", "diffusion-config"],
]);

const FLAG = /^-+[A-Za-z]/;
const BOOLEAN = /^(?:true|false)$/i;

/** Takes the words behind `vllm serve` apart as its parser does. Fails with Rejected unknown-flag. */
export function writtenFlags(words: readonly GivenWord[], notes: Notes): WrittenWords {
  const positionals: GivenWord[] = [];
  const flags: WrittenFlag[] = [];
  for (let at = 0; at < words.length;) {
    const word = words[at];
    at += 1;
    if (word === undefined || word.text.trim() === "" || word.text === "--") continue;
    if (!FLAG.test(word.text)) {
      positionals.push(word);
      continue;
    }
    if (/^-{3,}/.test(word.text))
      throw new Rejected("unknown-flag", word.text, `${word.text} has more than two dashes`);
    const { head, inline } = headOf(word);
    const named = nameOf(head, notes);
    const values = inline === null ? [] : [inline];
    const room = inline === null ? roomOf(named, words[at]) : 0;
    while (values.length < room && at < words.length) {
      const next = words[at];
      if (next === undefined || FLAG.test(next.text)) break;
      values.push(next);
      at += 1;
    }
    flags.push({ ...named, values, written: head });
  }
  return { positionals, flags };
}

/** `-O3` and `-O=3` are `-O 3`; else what stands in front of the first `=`. */
function headOf(word: GivenWord): { readonly head: string; readonly inline: GivenWord | null } {
  const [, level] = /^-O=?([^.=].*)$/.exec(word.text) ?? [];
  if (level !== undefined) return { head: "-O", inline: withText(word, level) };
  const equals = word.text.indexOf("=");
  if (equals < 0) return { head: word.text, inline: null };
  return { head: word.text.slice(0, equals), inline: withText(word, word.text.slice(equals + 1)) };
}

type Named = Omit<WrittenFlag, "values" | "written">;

function nameOf(written: string, notes: Notes): Named {
  const isElement = written.includes(".") && written.endsWith("+");
  const [head = "", ...members] = (isElement ? written.slice(0, -1) : written).split(".");
  const rest = { members, isElement };
  if (head === "-O") return { flag: "O", row: null, isRemoved: false, ...rest };
  const long = SHORT_NAMES.get(head) ?? head.replace(/^--?/, "").replaceAll("_", "-");
  const known = rowOf(long);
  if (known !== null) {
    // One dash in front of a long name can mean nothing else.
    if (!head.startsWith("--") && !SHORT_NAMES.has(head))
      notes.add("repaired", `--${long}`, `written as ${head}, which vLLM refuses`);
    return { flag: canonical(long), row: known, isRemoved: false, ...rest };
  }
  const removed = REMOVED_FLAGS.find(({ flag }) => flag === long);
  if (removed !== undefined) return { flag: long, row: { kind: removed.kind }, isRemoved: true, ...rest };
  const full = head.startsWith("--") ? abbreviated(long) : null;
  if (full === null) return { flag: long, row: null, isRemoved: false, ...rest };
  notes.add("abbreviated-flag", head, `written out as --${full}`);
  return { flag: full, row: rowOf(full), isRemoved: false, ...rest };
}

function rowOf(flag: string): FlagRow | null {
  const row = NEWEST_FLAGS.get(flag);
  if (row !== undefined) return row;
  const positive = flag.startsWith("no-") ? NEWEST_FLAGS.get(flag.slice("no-".length)) : undefined;
  return positive?.kind === "bool" ? positive : null;
}

/** The one name of a flag that has several. */
function canonical(flag: string): string {
  const row = NEWEST_FLAGS.get(flag);
  for (const [name, each] of NEWEST_FLAGS) if (each === row) return name;
  return flag;
}

/** The only flag that begins so; null: none or several. Source: argparse, allow_abbrev. */
function abbreviated(beginning: string): string | null {
  const names = [...NEWEST_FLAGS].flatMap(([name, row]) =>
    row.kind === "bool" ? [name, `no-${name}`] : [name],
  );
  const found = new Set(names.filter((name) => name.startsWith(beginning)).map((name) => canonical(name)));
  const [only = null] = found;
  return found.size === 1 ? only : null;
}

/** How many words the flag takes at most. */
function roomOf({ row, members, flag }: Named, next: GivenWord | undefined): number {
  if (members.length > 0 || flag === "O") return 1;
  if (row === null) return 1;
  if (row.kind === "list") return Number.POSITIVE_INFINITY;
  // A switch takes none, but people write `--enable-prefix-caching true`.
  if (row.kind === "bool" || row.kind === "flag") return BOOLEAN.test(next?.text ?? "") ? 1 : 0;
  return 1;
}
