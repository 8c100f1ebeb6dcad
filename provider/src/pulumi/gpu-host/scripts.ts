import { readFileSync } from "node:fs";
import { join } from "node:path";
import { quoteAll } from "../../ssh/quote";

/** The scripts beside this file, each of which looks first and changes only what differs. */
export type ScriptName = "driver" | "packages" | "persistence" | "user" | "disk" | "firewall";

/** What the remote shell gets on stdin. */
export function scriptText(name: ScriptName): string {
  return fileText("begin") + fileText(name);
}

/**
 * The line for the login shell, whichever it is: the script as root with these words.
 * @param host for messages @throws RangeError where a word holds a line break
 */
export function commandLine(host: string, words: readonly string[]): string {
  const asRoot = fileText("as-root")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .join(" ");
  return quoteAll(["sh", "-c", asRoot, "sh", host, ...words]);
}

function fileText(name: ScriptName | "as-root" | "begin"): string {
  return readFileSync(join(__dirname, `${name}.sh`), "utf8");
}
