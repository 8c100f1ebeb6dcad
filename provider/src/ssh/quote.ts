/** Characters that no shell changes inside single quotes, fish and csh included. */
const PLAIN = /^[^'!\\\n\r\0]+$/;

/**
 * One word for the login shell of the host, which may be sh, bash, zsh, fish or csh. Each of them takes text between single quotes as it
 * is, but fish reads \\ and \' there, and csh looks for history (!) even there; so a quote, a backslash and an exclamation mark
 * stand outside, each behind one backslash, which all of them read alike.
 * Throws RangeError for a line break or a NUL: csh has no way to write a line break inside a word, and no argument can hold a NUL.
 */
function quote(word: string): string {
  if (/[\n\r\0]/.test(word)) throw new RangeError("a shell word cannot hold a line break or NUL here");
  if (word === "") return "''";
  return word
    .split(/(['!\\])/)
    .filter((part) => part !== "")
    .map((part) => (PLAIN.test(part) ? `'${part}'` : `\\${part}`))
    .join("");
}

/** A command line out of words. */
export function quoteAll(words: readonly string[]): string {
  return words.map(quote).join(" ");
}
