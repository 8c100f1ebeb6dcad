import * as pulumi from "@pulumi/pulumi";

/** One thing that is wrong with the config. */
export interface ConfigProblem {
  /** "vllm-servers:servers.kimi.engine.maxModelLen" */
  readonly path: string;
  readonly found: string;
  readonly wanted: string;
  /** The server that it is a problem of, where it stands in what servers share and is none by itself. */
  readonly server?: string;
}

/** A path one or more names further in, as `pulumi config set --path` takes it too. */
export function pathAt(path: string, ...parts: readonly (string | number)[]): string {
  return parts.reduce<string>((outer, part) => {
    if (typeof part === "number") return `${outer}[${part}]`;
    return /^[A-Za-z0-9_-]+$/.test(part) ? `${outer}.${part}` : `${outer}[${JSON.stringify(part)}]`;
  }, path);
}

/** What stands there, by its kind alone: it may be a secret. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null || value === "") return "empty";
  if (Array.isArray(value)) return "a list";
  return typeof value === "string" ? "text" : `a ${typeof value}`.replace("a object", "an object");
}

/** All of them as the one error of the program. */
export function refusal(problems: readonly ConfigProblem[]): pulumi.RunError {
  const lines = linesOf(problems);
  const [only] = lines;
  if (only !== undefined && lines.length === 1) return new pulumi.RunError(`Cannot declare servers: ${only}`);
  const summary = `Cannot declare servers: ${lines.length} problems in the config of stack ${pulumi.getStack()}`;
  const numbered = lines.map((line, index) => `  ${index + 1}. ${line}`);
  return new pulumi.RunError([summary, ...numbered].join("\n"));
}

/** What several servers have from one place is told once. */
function linesOf(problems: readonly ConfigProblem[]): readonly string[] {
  const servers = new Map<string, string[]>();
  const alone = new Set<string>();
  for (const { path, found, wanted, server } of problems) {
    const line = `${path}: found ${found}, need ${wanted}`;
    if (server === undefined) alone.add(line);
    servers.set(line, [...(servers.get(line) ?? []), ...(server === undefined ? [] : [server])]);
  }
  return [...servers].map(([line, names]) => (alone.has(line) ? line : `${line} (for ${names.join(", ")})`));
}
