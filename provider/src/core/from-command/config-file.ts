import { parse as parseYaml } from "yaml";
import { isRecord } from "../input-json";
import { type GivenWord, plainWord } from "./given-word";
import type { Launch, Sources } from "./launch";
import { Rejected } from "./note";

/** The words with those of `--config FILE` in its place, where the text itself writes the file. Fails with Rejected needs-file. */
export function withConfigFile(launch: Launch, { files, notes }: Sources): Launch {
  const at = launch.words.findIndex(({ text }) => /^--config(?:=|$)/.test(text));
  const option = launch.words[at];
  if (option === undefined) return launch;
  const isEquals = option.text.startsWith("--config=");
  const name = isEquals ? option.text.slice("--config=".length) : (launch.words[at + 1]?.text ?? "");
  const text = files.get(name) ?? files.get(name.replace(/^\.\//, ""));
  if (text === undefined)
    throw new Rejected(
      "needs-file",
      "--config",
      `what stands in ${name === "" ? "it" : name} is not in the text`,
    );
  if (isEquals)
    notes.add(
      "config-file-ignored",
      "--config",
      "written with an equals sign, which vLLM up to 0.32 silently ignores; read as intended",
    );
  const rest = [...launch.words.slice(0, at), ...launch.words.slice(at + (isEquals ? 1 : 2))];
  const model = rest.findIndex(({ text: word }) => !word.startsWith("-"));
  // The command line wins: its words come last.
  const front = model === 0 ? 1 : 0;
  return { ...launch, words: [...rest.slice(0, front), ...wordsOf(text, name), ...rest.slice(front)] };
}

/** Source: vLLM 0.32.0 utils/argparse_utils.py load_config_file. */
function wordsOf(text: string, name: string): readonly GivenWord[] {
  let content: unknown;
  try {
    content = parseYaml(text);
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : "no YAML";
    throw new Rejected("broken-text", name, why ?? "no YAML");
  }
  if (!isRecord(content)) return [];
  return Object.entries(content).flatMap(([key, value]) => {
    if (value === true) return [plainWord(`--${key}`)];
    if (value === false) return [plainWord(`--no-${key.replace(/_/g, "-")}`)];
    if (Array.isArray(value))
      return [plainWord(`--${key}`), ...value.map((item: unknown) => plainWord(textOf(item)))];
    return [plainWord(`--${key}`), plainWord(textOf(value))];
  });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
