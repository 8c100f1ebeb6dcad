/** Errors come in lines of 80 columns. What a test says of their words does not depend on where those are broken. */

/** Further lines of one part: deeper than what begins one. */
const FURTHER = /^ {5,}(?!(?:proof|change): )\S/;

/** A message with each part of it on one line. */
export function joinedError(message: string): string {
  return joined(message.split("\n")).join("\n");
}

/** The same for each error in what the CLI printed, which indents by four. */
export function joinedErrors(printed: string): string {
  return printed.replace(/^ {4}(?:error: |\t\* ).*(?:\n {4}.*\S.*)*/gm, (error) =>
    joined(error.split("\n").map((line) => line.slice(4)))
      .map((line) => `    ${line}`)
      .join("\n"),
  );
}

function joined(lines: readonly string[]): readonly string[] {
  const parts: string[] = [];
  for (const line of lines) {
    const last = parts.at(-1);
    if (last !== undefined && FURTHER.test(line)) parts[parts.length - 1] = `${last} ${line.trimStart()}`;
    else parts.push(line);
  }
  return parts;
}
