import { wrapText } from "../core/wrap-text";

const COLUMNS = 80;
const LABEL = /^ +(?:\w+:|\d+\.) +/;

/** The text of an error for a terminal of 80 columns; a command to be pasted stays on its line. */
export function failureText(message: string): string {
  const lines = message.split("\n").map((line) => {
    if (/^ +log: /.test(line)) return line;
    return wrapText(line, { width: COLUMNS, indent: LABEL.exec(line)?.[0].length ?? 2 });
  });
  return `${lines.join("\n")}\n`;
}
