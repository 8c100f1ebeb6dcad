import { parse } from "yaml";

/**
 * What vLLM 0.32 makes of the text of its `--config` file, rule by rule as its load_config_file does it: the words that argparse gets.
 * Says what would go wrong instead of doing it: a dropped false or [], "None", a word that argparse takes for an option.
 */
export function vllmArgv(yamlText: string): readonly string[] {
  const config: unknown = parse(yamlText, { version: "1.1", schema: "yaml-1.1" }) ?? {};
  if (typeof config !== "object" || config === null) throw new Error("the file is no mapping");
  return Object.entries(config).flatMap(([key, value]: [string, unknown]) => words(key, value));
}

function words(key: string, value: unknown): readonly string[] {
  const option = `--${key}`;
  if (value === true) return [option];
  if (value === false) throw new Error(`${key}: false is dropped`);
  if (value === null || value === undefined) throw new Error(`${key}: null becomes the text None`);
  if (Array.isArray(value)) {
    if (value.length === 0) throw new Error(`${key}: an empty list is dropped`);
    return [option, ...value.map((item) => word(key, item))];
  }
  if (typeof value === "object") throw new Error(`${key}: a mapping is not ours to rely on`);
  return [option, word(key, value)];
}

function word(key: string, value: unknown): string {
  if (typeof value !== "string" && typeof value !== "number")
    throw new Error(`${key}: ${typeof value} becomes a Python repr`);
  const text = String(value);
  if (/^-./.test(text) && !/^-\d+$/.test(text)) throw new Error(`${key}: ${text} is taken for an option`);
  return text;
}
