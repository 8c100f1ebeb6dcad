import { countedText } from "../../core/amount-text";
import { reasonFor } from "../../core/config-patch/change-reason";
import type { PatchOptions } from "./options";
import type { PatchedFolder } from "./patch-folder";

/** Longest value that is shown whole, in characters. */
const SHOWN_CHARACTERS = 100;

/** The object that `--json` promises. The files keep the form of their numbers and the order of their keys. */
export function asJson({ patch, files, flag }: PatchedFolder): string {
  const texts = Object.entries(files).map(([name, text]) => `${JSON.stringify(name)}: ${strictJson(text)}`);
  const changes = patch.changes.map(({ file, pointer, from, to }) => ({ file, path: pointer, from, to }));
  const rest = {
    changes,
    warnings: patch.warnings,
    flag: { kvCacheDtype: flag.flag, warnings: flag.warnings },
  };
  return `{"files": {${texts.join(", ")}}, ${JSON.stringify(rest).slice(1)}\n`;
}

/** For reading: each change with its reason, then warnings, vLLM's flag and what was written. */
export function asText(options: PatchOptions, { patch, files, flag, written }: PatchedFolder): string {
  const lines = patch.changes.flatMap((change) => [
    `${change.file}#${change.pointer}: ${change.isNew ? "(not there)" : shown(change.from)} -> ${shown(change.to)}`,
    `  why: ${reasonFor(change, options.kvCacheDtype, files)}`,
  ]);
  if (lines.length === 0) lines.push("nothing to change in the files");
  lines.push(...[...patch.warnings, ...flag.warnings].map(({ message }) => `warning: ${message}`));
  lines.push(flag.flag === null ? "vLLM: no --kv-cache-dtype" : `vLLM: --kv-cache-dtype ${flag.flag}`);
  if (written === null) lines.push("nothing written: no --out");
  else
    lines.push(
      `written: ${written.path} (${countedText(written.files.length, "file")}, ${countedText(written.links, "link")})`,
    );
  return `${lines.join("\n")}\n`;
}

/** NaN and the infinities, which Python writes and JSON does not know, become their names. */
function strictJson(text: string): string {
  const names = /"[^"\\]*(?:\\.[^"\\]*)*"|-?Infinity|NaN/gs;
  return text.trim().replace(names, (token) => (token.startsWith('"') ? token : JSON.stringify(token)));
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text;
}
