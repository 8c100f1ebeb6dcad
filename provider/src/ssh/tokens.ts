import { homedir, hostname, userInfo } from "node:os";
import { join } from "node:path";

/** What the % tokens of ssh_config(5) stand for; the lower-case letter is the token. */
export interface Tokens {
  /** Host as it was written. */
  readonly n: string;
  /** Host name that is dialled. */
  readonly h: string;
  readonly p: string;
  /** User on the host. */
  readonly r: string;
}

/** Replaces %% %h %n %p %r %u %d %i %l %L; an unknown token stays as it stands. Source: ssh_config(5), TOKENS. */
export function expandTokens(text: string, tokens: Tokens): string {
  const local = userInfo();
  const values: Readonly<Record<string, string>> = {
    "%": "%",
    ...tokens,
    u: local.username,
    d: homedir(),
    i: String(local.uid),
    l: hostname(),
    L: hostname().split(".")[0] ?? "",
  };
  return text.replace(/%(.)/g, (whole, letter: string) => values[letter] ?? whole);
}

/** A path of ssh_config: ~ and ${NAME} too. An unset variable becomes empty, and the path is then simply not there. */
export function expandPath(text: string, tokens: Tokens): string {
  const withVariables = text.replace(/\$\{(\w+)\}/g, (_whole, name: string) => process.env[name] ?? "");
  return expandHome(expandTokens(withVariables, tokens));
}

/** "~/x" below the home folder of the user who runs this program. */
export function expandHome(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
}
