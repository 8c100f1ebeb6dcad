import { readFile, stat } from "node:fs/promises";
import { reasonOf } from "../patch/failure";

/** What is not there, or cannot be read. The message is one line. */
export class TextFailure extends Error {
  readonly code = "text-not-readable";
}

/** The text itself where it is one, else what stands in the file, or on standard input. */
export async function textOf(given: string): Promise<string> {
  // A command has blanks or lines; a file of such a name would be a strange one.
  const isFile = given === "-" || !/\s/.test(given) || (await isThere(given));
  if (!isFile) return given;
  try {
    return given === "-" ? await standardInput() : await readFile(given, "utf8");
  } catch (error) {
    const name = given === "-" ? "standard input" : given;
    throw new TextFailure(`Cannot read ${name}: ${reasonOf(error)}, need a command that starts vLLM`, { cause: error });
  }
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

async function standardInput(): Promise<string> {
  let text = "";
  process.stdin.setEncoding("utf8");
  for await (const piece of process.stdin) text += String(piece);
  return text;
}
