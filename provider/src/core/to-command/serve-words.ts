import { isJsonList } from "../input-json";
import type { JsonValue } from "../json";
import type { ServeFlag } from "../vllm-command";

/** One flag as words of a command line: none where vLLM has no way to say it. */
export function serveWords({ flag, value, kind }: ServeFlag): readonly string[] {
  if (value === null) return [];
  const name = `--${flag}`;
  if (value === true) return [name];
  if (value === false) return kind === "flag" ? [] : [`--no-${flag}`];
  if (!isJsonList(value)) return [name, wordOf(value)];
  if (value.length === 0) return [];
  if (kind === "list" || kind === "unknown") return [name, ...value.map(wordOf)];
  if (kind === "commaList") return [name, value.map(wordOf).join(",")];
  if (kind === "append") return value.flatMap((item) => [name, wordOf(item)]);
  return [name, JSON.stringify(value)];
}

function wordOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
