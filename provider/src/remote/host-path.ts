import { posix } from "node:path";

/**
 * Absolute path of what a user wrote, as the agent makes it (agent/paths.py): ~ expanded, relative ones from the home folder.
 * null: only the host can tell (~user).
 */
export function hostPath(path: string, home: string): string | null {
  if (path.startsWith("~") && path !== "~" && !path.startsWith("~/")) return null;
  const whole = path.startsWith("~") ? `${home}${path.slice(1)}` : posix.resolve(home, path);
  return posix.resolve("/", whole);
}
