import { Rejected } from "./note";

/** What kind of text it is: `shell` is a command, a script or `docker run`. */
export type TextForm = "shell" | "unit" | "compose";

/** Fails with Rejected not-supported for what is known and not read. */
export function formOf(text: string): TextForm {
  if (/^\s*\[(?:Service|Unit)\]\s*$/m.test(text) && !/<<-?\s*['"]?\w/.test(text)) return "unit";
  if (/^\s*apiVersion:/m.test(text) && /^\s*kind:/m.test(text))
    throw new Rejected(
      "not-supported",
      "kubernetes",
      "manifests are not read; paste the command of the container",
    );
  const isYaml = !/<<-?\s*['"]?\w/.test(text) && /^\s*image:\s*\S/m.test(text);
  if (isYaml || (/^services:\s*$/m.test(text) && !/<<-?\s*['"]?\w/.test(text))) return "compose";
  return "shell";
}
