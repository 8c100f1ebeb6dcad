import { wrapText } from "./wrap-text";

/**
 * Pulumi indents what a resource says by four columns, and puts "error: " or a bullet before its first line: eleven or ten columns.
 * Source: the CLI 3.276.0, `pulumi up` on a terminal of 80 columns.
 */
const BEFORE_FIRST = 11;
const BEFORE_OTHERS = 4;
/** Further lines of the summary stand under the words behind the bullet. */
const SUMMARY_INDENT = 6;
const TERMINAL_COLUMNS = 80;

/** "  proof:  ", "  change: ", "  1. " */
const LABEL = /^ +(?:\w+:|\d+\.) +/;
/** A command to be pasted. */
const COMMAND = /^ +log: /;

/** The text of an error as Pulumi shows it whole on a terminal of 80 columns. Secrets have to be out of it: they would be broken too. */
export function layOutError(message: string): string {
  const width = TERMINAL_COLUMNS - BEFORE_OTHERS;
  return message
    .split("\n")
    .map((line, index) => {
      if (index === 0)
        return wrapText(line, { width, firstWidth: TERMINAL_COLUMNS - BEFORE_FIRST, indent: SUMMARY_INDENT });
      if (COMMAND.test(line)) return line;
      return wrapText(line, { width, indent: LABEL.exec(line)?.[0].length ?? SUMMARY_INDENT });
    })
    .join("\n");
}
