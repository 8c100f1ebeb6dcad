import { parse } from "yaml";
import { isJsonObject } from "../input-json";
import type { InputPath } from "../input-path";
import type { JsonValue } from "../json";
import type { ServerSeen } from "../observed";
import type { Differences } from "../observed-differences";
import type { SecretMarks } from "../secret-marks";
import type { Drift } from "./drift";
import { asInput, placeOfFlag } from "./flag-place";
import { foundAndWanted, isHiddenAt, untold } from "./shown-value";

/** What the running process was given otherwise than the one that was proven ready. */
export function processDrift(differences: Differences, marks: SecretMarks): readonly Drift[] {
  return [...environmentDrift(differences), ...argumentDrift(differences, marks)];
}

/** Secrets the server was not started with as this state has them. */
export function secretDrift({ secretsMatch, differences }: ServerSeen): readonly Drift[] {
  if (secretsMatch !== false) return [];
  const names = differences.secrets;
  const words = "the server was started with another value than the declared one";
  if (names.length === 0)
    return [
      {
        path: ["environment"],
        found: untold(),
        words: "its secrets are not the declared ones",
        repair: "restart",
      },
    ];
  return names.map((name) => ({ path: placeOfVariable(name), found: untold(), words, repair: "restart" }));
}

function environmentDrift({ environment }: Differences): readonly Drift[] {
  return environment.map(({ name, kind, hash }) => ({
    path: placeOfVariable(name),
    found: kind === "missing" ? undefined : untold(hash),
    words: WORDS[kind],
    repair: "restart",
  }));
}

const WORDS = {
  changed: "another value in the running process",
  missing: "not set in the running process",
  added: "set in the running process, not declared",
} as const satisfies Readonly<Record<Differences["environment"][number]["kind"], string>>;

function placeOfVariable(name: string): InputPath {
  return name === "VLLM_API_KEY" ? ["apiKey"] : ["environment", name];
}

function argumentDrift({ arguments: words }: Differences, marks: SecretMarks): readonly Drift[] {
  if (words === null) return [];
  const { flags, rest } = flagsOf(words.added);
  const drift = flags.map(([flag, value]): Drift => {
    const path = placeOfFlag(flag);
    const isHidden = isHiddenAt(path, marks);
    const shown = isHidden ? "another value" : foundAndWanted(value, undefined).found;
    return {
      path,
      found: isHidden ? untold() : value,
      words: `${shown} on the command line of the running process`,
      repair: "restart",
    };
  });
  const others = [...rest.map((word) => `has ${word}`), ...words.missing.map((word) => `lacks ${word}`)];
  if (others.length === 0) return drift;
  const text = `the command line of the running process ${others.join(", ")}`;
  return [...drift, { path: ["configHash"], found: text, words: text, repair: "restart" }];
}

/** `--a 1 --b=2 --no-c d` -> a: 1, b: 2, c: false; and d, which belongs to no flag. */
function flagsOf(words: readonly string[]): {
  readonly flags: readonly (readonly [string, JsonValue])[];
  readonly rest: readonly string[];
} {
  const flags: (readonly [string, JsonValue])[] = [];
  const rest: string[] = [];
  let open: string | null = null;
  const close = (value: JsonValue): void => {
    if (open !== null) flags.push(asInput(open, value));
    open = null;
  };
  for (const word of words) {
    const flag = /^--([^=]+)(?:=(.*))?$/s.exec(word);
    if (flag === null) {
      if (open === null) rest.push(word);
      else close(valueOf(word));
      continue;
    }
    close(true);
    open = flag[1] ?? "";
    if (flag[2] !== undefined) close(valueOf(flag[2]));
  }
  close(true);
  return { flags, rest };
}

/** A number where it is one. */
function valueOf(word: string): JsonValue {
  if (/^-?[0-9.]+(?:e[+-]?\d+)?$/i.test(word)) return Number(word);
  try {
    const value: unknown = /^[[{]/.test(word) ? parse(word) : word;
    return isJsonObject(value) ? value : word;
  } catch {
    return word;
  }
}
