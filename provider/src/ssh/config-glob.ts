import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Files an Include names, sorted as glob(3) does; a name that matches nothing gives nothing. `path` is absolute. */
export function globFiles(path: string): readonly string[] {
  let found: readonly string[] = ["/"];
  for (const part of path.split("/").filter((one) => one !== "")) {
    found = /[*?[]/.test(part)
      ? found.flatMap((folder) => entries(folder, part))
      : found.map((folder) => join(folder, part));
  }
  return found;
}

function entries(folder: string, pattern: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter(
      (name) => matchesGlob(pattern, name) && (pattern.startsWith(".") || !name.startsWith(".")),
    );
    return names.sort().map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** *, ? and [a-c], [!a-c]. Source: glob(7). */
function matchesGlob(pattern: string, name: string): boolean {
  const source = pattern.replace(/\[([!^]?)(\]?[^\]]*)\]|[^\w]/g, (part, negation?: string, set?: string) => {
    if (set !== undefined && set !== "")
      return `[${negation === "" ? "" : "^"}${set.replace(/[\\\]^[]/g, "\\$&")}]`;
    if (part === "*") return ".*";
    return part === "?" ? "." : part.replace(/[\\^$.|+(){}[\]/-]/g, "\\$&");
  });
  return new RegExp(`^${source}$`, "s").test(name);
}
