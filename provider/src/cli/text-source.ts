import { readFile, stat } from "node:fs/promises";
import { reasonOf } from "./patch/failure";

/** What is not there, or cannot be read. The message is one line. */
export class TextFailure extends Error {
  readonly code = "text-not-readable";
}

/**
 * What stands in a file, or on standard input for "-". Fails with TextFailure.
 * @param wanted for the error: what the file should hold.
 */
export async function textOf(file: string, wanted: string): Promise<string> {
  try {
    return file === "-" ? await standardInput() : await readFile(file, "utf8");
  } catch (error) {
    const name = file === "-" ? "standard input" : file;
    const isFolder = error instanceof Error && "code" in error && error.code === "EISDIR";
    const reason = isFolder ? "it is a folder" : reasonOf(error);
    throw new TextFailure(`Cannot read ${name}: ${reason}, need ${wanted}`, { cause: error });
  }
}

/** Whether there is a file of this name. */
export async function isFile(path: string): Promise<boolean> {
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
