import { join } from "node:path";
import { LocalWorkspace, PulumiCommand, type EngineEvent } from "@pulumi/pulumi/automation/index.js";
import { capture } from "../../scripts/processes.mjs";
import { ensurePulumi } from "../../scripts/setup-pulumi.mjs";
import type { PulumiProject } from "./pulumi-cli.ts";

/** What a person gets to see of `pulumi up`, through each of the ways in which it is run. */

/** A pseudo-terminal of so many columns around a command; what it shows goes to standard output. */
const TERMINAL = `
import os, pty, sys
words = ["sh", "-c", 'stty rows 40 cols "$0" && exec "$@"', *sys.argv[1:]]
sys.exit(os.waitstatus_to_exitcode(pty.spawn(words)))
`;

export interface Shown {
  readonly code: number;
  readonly output: string;
}

/** As CI runs it: no terminal, and no flag that says so. */
export async function upInCi(project: PulumiProject): Promise<Shown> {
  return await shown(project, [join(await ensurePulumi(), "pulumi"), ...UP], { CI: "true", NO_COLOR: "1" });
}

/** In a terminal of this width, with Pulumi's table that is drawn anew all the time. */
export async function upInTerminal(project: PulumiProject, columns: number): Promise<Shown> {
  const words = ["python3", "-c", TERMINAL, String(columns), join(await ensurePulumi(), "pulumi"), ...UP];
  return await shown(project, words, { TERM: "xterm" });
}

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];

async function shown(
  { folder, env }: PulumiProject,
  [command = "", ...words]: readonly string[],
  more: Readonly<Record<string, string>>,
): Promise<Shown> {
  // What this process was told of its own output is not what is looked at.
  const { CI: _ci, NO_COLOR: _noColor, ...rest } = env;
  const { code, stdout } = await capture(command, words, { cwd: folder, env: { ...rest, ...more } });
  return { code, output: stdout };
}

export interface UpByProgram {
  /** null: it ended well. */
  readonly rejection: Error | null;
  readonly output: string;
  readonly events: readonly EngineEvent[];
}

/** Through the Automation API. */
export async function upByProgram({ folder, env }: PulumiProject): Promise<UpByProgram> {
  const pulumiCommand = await PulumiCommand.get({ root: join(await ensurePulumi(), "..") });
  const stack = await LocalWorkspace.selectStack(
    { stackName: "dev", workDir: folder },
    { envVars: { ...env }, pulumiCommand },
  );
  const [pieces, events]: [string[], EngineEvent[]] = [[], []];
  const rejection = await stack
    .up({ onOutput: (piece) => pieces.push(piece), onEvent: (event) => events.push(event) })
    .then(() => null)
    .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  return { rejection, output: pieces.join(""), events };
}
