/** Whether `text` fits an OpenSSH pattern: * is any run of characters, ? exactly one. Source: ssh_config(5), PATTERNS. */
function matchesPattern(pattern: string, text: string): boolean {
  const source = pattern.replace(/[.*+?^${}()|[\]\\/]/g, (character) => {
    if (character === "*") return ".*";
    return character === "?" ? "." : `\\${character}`;
  });
  return new RegExp(`^${source}$`, "s").test(text);
}

/** A list matches when one of its patterns does and none behind a "!" does. */
export function matchesPatternList(patterns: readonly string[], text: string): boolean {
  const isDenied = patterns.some(
    (pattern) => pattern.startsWith("!") && matchesPattern(pattern.slice(1), text),
  );
  return !isDenied && patterns.some((pattern) => !pattern.startsWith("!") && matchesPattern(pattern, text));
}
