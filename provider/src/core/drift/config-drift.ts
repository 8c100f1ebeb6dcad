import { parse } from "yaml";
import { isJsonObject } from "../input-json";
import type { InputPath } from "../input-path";
import type { JsonValue } from "../json";
import { canonicalJson } from "../identity";
import type { Differences } from "../observed-differences";
import type { SecretMarks } from "../secret-marks";
import type { Drift } from "./drift";
import { asInput, placeOfFlag } from "./flag-place";
import { foundAndWanted, isHiddenAt, untold } from "./shown-value";

const HASH: InputPath = ["configHash"];

/** serve.yaml that another hand has changed, flag by flag, each at the input that says it. */
export function configDrift({ config }: Differences, marks: SecretMarks): readonly Drift[] {
  if (config === null) return [];
  const repair = config.isRead ? "restart" : "live";
  const wanted = flagsIn(config.wanted);
  const found = config.found === null ? null : flagsIn(config.found);
  if (wanted === null || found === null) {
    const what = config.found === null ? "is gone" : "was edited and cannot be read";
    return [{ path: HASH, found: `serve.yaml ${what}`, words: `serve.yaml ${what}`, repair: "live" }];
  }
  const flags = [...new Set([...wanted.keys(), ...found.keys()])].sort();
  const differing = flags.filter(
    (flag) => canonicalJson(wanted.get(flag)) !== canonicalJson(found.get(flag)),
  );
  if (differing.length === 0) {
    const words = "serve.yaml was edited; it says the same";
    return [{ path: HASH, found: words, words, repair: "live" }];
  }
  return differing.map((flag) => {
    const path = placeOfFlag(flag);
    const isHidden = isHiddenAt(path, marks);
    const value = found.get(flag);
    return {
      path,
      found: isHidden && value !== undefined ? untold() : value,
      words: wordsOf(value, wanted.get(flag), isHidden, config.isRead),
      repair,
    };
  });
}

function wordsOf(
  value: JsonValue | undefined,
  declared: JsonValue | undefined,
  isHidden: boolean,
  isRead: boolean,
): string {
  const when = isRead ? ", with which the running server was started" : " since it was started";
  if (isHidden) return `another value in serve.yaml${when}`;
  const { found, wanted } = foundAndWanted(value, declared);
  return `${found} in serve.yaml${when}, declared ${wanted}`;
}

/** Flags of the file by name; null: it is no file of flags. */
function flagsIn(text: string): ReadonlyMap<string, JsonValue> | null {
  try {
    const content: unknown = parse(text);
    if (!isJsonObject(content)) return null;
    return new Map(Object.entries(content).map(([flag, value]) => asInput(flag, value)));
  } catch {
    return null;
  }
}
