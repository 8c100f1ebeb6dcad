import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { nodeBinFolder, repositoryFolder } from "../../scripts/places.mjs";
import { ensurePulumi } from "../../scripts/setup-pulumi.mjs";
import { joinedErrors } from "./joined-errors.ts";
import { killQuietly, processesIn } from "./process-tree.ts";
import { readEvents, type PulumiEvent } from "./pulumi-events.ts";

/** The real Pulumi CLI on a project of its own in a temporary folder: file backend, own PULUMI_HOME, passphrase "". */

export interface ProjectOptions {
  /** Text of the program, an ES module that imports "pulumi-vllm". */
  readonly program?: string;
  /** Instead of a program: a folder with a whole project (Pulumi.yaml and what belongs to it), which is copied. */
  readonly copyOf?: string;
  /** Default "test". */
  readonly name?: string;
  /** Default "dev". */
  readonly stack?: string;
  /** Over the environment of this process; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where packages come from. Default: node_modules of this repository; null: they are installed into the project. */
  readonly nodeModules?: string | null;
}

export interface PulumiResult {
  /** null: ended by a signal. */
  readonly code: number | null;
  /** Errors with each part on one line again. */
  readonly stdout: string;
  /** As it came. */
  readonly printed: string;
  readonly stderr: string;
  /** [] for verbs that have no event log. */
  readonly events: readonly PulumiEvent[];
  readonly seconds: number;
}

export interface RunningPulumi {
  readonly pid: number;
  /** Its standard output as it comes; the result holds it too. */
  readonly output: Readable;
  readonly result: Promise<PulumiResult>;
  /** To the CLI alone; its plugins are processes of their own. */
  kill(signal: NodeJS.Signals): void;
}

export interface StateResource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly dependencies?: readonly string[];
  readonly initErrors?: readonly string[];
}

export interface StackState {
  readonly deployment: {
    readonly resources?: readonly StateResource[];
    readonly pending_operations?: readonly { readonly resource: StateResource; readonly type: string }[];
  };
}

/** Verbs that write an event log and ask before they act. */
const ACTING = new Set(["up", "refresh", "destroy"]);

export class PulumiProject {
  /** Of the project: Pulumi.yaml, index.js. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly #pulumi: string;
  readonly #stack: string;
  #runs = 0;

  private constructor(folder: string, env: Readonly<Record<string, string>>, pulumi: string, stack: string) {
    this.folder = folder;
    this.env = env;
    this.#pulumi = pulumi;
    this.#stack = stack;
  }

  static async create(options: ProjectOptions): Promise<PulumiProject> {
    const { name = "test", stack = "dev", nodeModules = join(repositoryFolder, "node_modules") } = options;
    const bin = await ensurePulumi();
    const folder = await realpath(await mkdtemp(join(tmpdir(), "pulumi-vllm-project-")));
    const project = new PulumiProject(
      folder,
      environment(folder, bin, options.env ?? {}),
      join(bin, "pulumi"),
      stack,
    );
    await mkdir(join(folder, ".state"));
    if (nodeModules !== null) await symlink(nodeModules, join(folder, "node_modules"));
    if (options.copyOf === undefined) {
      await writeFile(join(folder, "Pulumi.yaml"), projectFile(name));
      await writeFile(
        join(folder, "package.json"),
        JSON.stringify({ name, type: "module", main: "index.js" }),
      );
      await project.setProgram(options.program ?? "");
    } else {
      await cp(options.copyOf, folder, {
        recursive: true,
        filter: (path) => basename(path) !== "node_modules",
      });
    }
    await project.mustRun("stack", ["init", stack]);
    return project;
  }

  setProgram(program: string): Promise<void> {
    return this.writeFile("index.js", program);
  }

  /** @param path in the project's folder */
  async writeFile(path: string, content: string): Promise<void> {
    await writeFile(join(this.folder, path), content);
  }

  up(args: readonly string[] = []): Promise<PulumiResult> {
    return this.start("up", args).result;
  }

  preview(args: readonly string[] = []): Promise<PulumiResult> {
    return this.start("preview", args).result;
  }

  refresh(args: readonly string[] = []): Promise<PulumiResult> {
    return this.start("refresh", args).result;
  }

  destroy(args: readonly string[] = []): Promise<PulumiResult> {
    return this.start("destroy", args).result;
  }

  /** Takes away the lock that a killed CLI left. */
  cancel(): Promise<PulumiResult> {
    return this.start("cancel", ["--yes"]).result;
  }

  /** Any verb; plain text output unless "--json" is among the arguments. */
  start(verb: string, args: readonly string[] = []): RunningPulumi {
    const hasEvents = ACTING.has(verb) || verb === "preview";
    this.#runs += 1;
    const eventLog = join(this.folder, `.events-${String(this.#runs)}.json`);
    const words = [
      verb,
      "--non-interactive",
      "--color=never",
      ...(verb === "stack" ? [] : ["--stack", this.#stack]),
    ];
    if (ACTING.has(verb)) words.push("--yes", "--skip-preview");
    if (hasEvents) words.push("--event-log", eventLog);
    const begin = Date.now();
    const child = spawn(this.#pulumi, [...words, ...args], {
      cwd: this.folder,
      env: this.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { pid } = child;
    if (pid === undefined) throw new Error(`Cannot start ${this.#pulumi}`);
    const code = new Promise<number | null>((resolve) => child.once("exit", resolve));
    const finish = async (): Promise<PulumiResult> => {
      const [exit, printed, stderr] = await Promise.all([code, text(child.stdout), text(child.stderr)]);
      const events = hasEvents ? await readEvents(eventLog) : [];
      const stdout = joinedErrors(printed);
      return { code: exit, stdout, printed, stderr, events, seconds: (Date.now() - begin) / 1000 };
    };
    return { pid, output: child.stdout, result: finish(), kill: (signal) => void child.kill(signal) };
  }

  /** Runs a verb that has to end well and returns what it printed. */
  async mustRun(verb: string, args: readonly string[] = []): Promise<string> {
    const { code, stdout, stderr } = await this.start(verb, args).result;
    if (code !== 0) throw new Error(`pulumi ${verb} ended with ${String(code)}:\n${stdout}\n${stderr}`);
    return stdout;
  }

  /** The state as it is stored: secrets are ciphertext. */
  async stackExport(): Promise<StackState> {
    const state: StackState = JSON.parse(await this.mustRun("stack", ["export", "--stack", this.#stack]));
    return state;
  }

  /** Puts this in place of the state. */
  async stackImport(state: unknown): Promise<void> {
    const file = join(this.folder, ".import.json");
    await writeFile(file, JSON.stringify(state));
    await this.mustRun("stack", ["import", "--stack", this.#stack, "--file", file]);
  }

  /** Resources of type VllmServer in the state. */
  async servers(): Promise<readonly StateResource[]> {
    const { deployment } = await this.stackExport();
    return (deployment.resources ?? []).filter((resource) => resource.type.endsWith("vllm:VllmServer"));
  }

  /** Deletes the folder; what was declared must have been destroyed before. */
  async remove(): Promise<void> {
    // Plugins run in the project's folder, and nothing else does. The language host of a CLI that was killed looks for it only every five minutes.
    for (const pid of processesIn(this.folder)) killQuietly(pid);
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function projectFile(name: string): string {
  // typescript: false: the program is plain JavaScript, and loading ts-node costs seconds.
  return `name: ${name}\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n`;
}

function environment(
  folder: string,
  bin: string,
  over: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const all: Record<string, string | undefined> = {
    ...process.env,
    // Plugins of the user's own installation stay out; what is set for other backends too.
    PULUMI_ACCESS_TOKEN: undefined,
    PULUMI_CONFIG_PASSPHRASE_FILE: undefined,
    PULUMI_STACK: undefined,
    PATH: [nodeBinFolder, bin, process.env["PATH"] ?? ""].join(delimiter),
    PULUMI_HOME: join(folder, ".home"),
    PULUMI_BACKEND_URL: `file://${join(folder, ".state")}`,
    PULUMI_CONFIG_PASSPHRASE: "",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    // node_modules holds packages with plugins that no program here uses; the CLI would look for each on the network.
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    // Without it there is no --event-log.
    PULUMI_DEBUG_COMMANDS: "true",
    ...over,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(given);
}
