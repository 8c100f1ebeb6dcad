import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { nodeBinFolder, repositoryFolder } from "../../scripts/places.mjs";
import { capture } from "../../scripts/processes.mjs";
import { ensurePulumi } from "../../scripts/setup-pulumi.mjs";
import { note, takeAway, type Trace } from "./host-ledger.ts";
import type { Member } from "./host-network.ts";
import { homeThatKnowsMachine } from "./machine-home.ts";
import type { SystemdHost } from "./systemd-host.ts";

/**
 * Somebody who reads a document and types what it says: a home folder, a clone, a machine of their own in the network of the host,
 * Node and the Pulumi CLI. ~/.ssh/config knows the host as gpu1.
 */
export interface Newcomer {
  /** Where the shell is; a block that ends elsewhere moves it. */
  folder: string;
  /** Types a block; fails when it fails, else gives all that it printed. */
  type(block: string): Promise<string>;
  /** Types a block into another terminal, where it stays. */
  typeElsewhere(block: string): ChildProcess;
  /** Takes away what they have here. */
  leave(): Promise<void>;
}

/** A block that takes longer is one that will not end: the installation, or a start. */
const BLOCK_SECONDS = 240;

export async function newcomer(host: SystemdHost, user: string, own: Member): Promise<Newcomer> {
  const { folder: home, environment } = homeThatKnowsMachine(host, user);
  const trace: Trace = { kind: "project", path: home };
  note(trace);
  const clone = join(home, "pulumi-vllm");
  copyCheckout(clone);
  layOutPasswd(home);
  const npmHome = process.env["HOME"] ?? home;
  const env = {
    ...process.env,
    ...environment([nodeBinFolder, await ensurePulumi(), process.env["PATH"] ?? ""].join(delimiter)),
    // In place of an answer to each question.
    ...{ PULUMI_CONFIG_PASSPHRASE: "", PULUMI_SKIP_CONFIRMATIONS: "true", PULUMI_SKIP_UPDATE_CHECK: "true" },
    // Where this machine gets packages from stands in its own home.
    ...{ npm_config_userconfig: join(npmHome, ".npmrc"), npm_config_cache: join(npmHome, ".npm") },
    NO_COLOR: "1",
  };
  // `ip netns exec` gives them file systems of their own to mount on.
  const words = (block: string): string[] => [
    ...["netns", "exec", own.name, "bash", "-ec"],
    `mount --bind "$HOME/.passwd" /etc/passwd\n${block}`,
  ];
  const elsewhere: ChildProcess[] = [];
  const person: Newcomer = {
    folder: clone,
    type: async (block) => {
      const moved = `${block}\npwd >"$HOME/.folder"`;
      // The machine in the network of the host reaches nothing else.
      const needsRegistry = /^npm (ci|install)\b/m.test(block);
      const [program, args]: [string, string[]] = needsRegistry
        ? ["bash", ["-ec", moved]]
        : ["ip", words(moved)];
      const options = { cwd: person.folder, env, timeoutSeconds: BLOCK_SECONDS };
      const { code, stdout, stderr } = await capture(program, args, options);
      if (code !== 0) throw new Error(`${block}\nended with ${String(code)}:\n${stdout}\n${stderr}`);
      person.folder = readFileSync(join(home, ".folder"), "utf8").trim();
      return stdout;
    },
    typeElsewhere: (block) => {
      const child = spawn("ip", words(`exec ${block}`), { cwd: person.folder, env, stdio: "ignore" });
      elsewhere.push(child);
      return child;
    },
    leave: async () => {
      for (const child of elsewhere) child.kill();
      await takeAway([trace]);
    },
  };
  return person;
}

/** What a clone of this checkout would have, with what is not committed yet. */
function copyCheckout(to: string): void {
  const words = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const listed = execFileSync("git", words, { cwd: repositoryFolder, encoding: "utf8" }).split("\0");
  for (const path of listed.filter((name) => name !== "")) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    cpSync(join(repositoryFolder, path), join(to, path));
  }
}

/** `pulumi login --local` goes by the home folder that stands in the passwd file, not by HOME. */
function layOutPasswd(home: string): void {
  const passwd = readFileSync("/etc/passwd", "utf8").replace(/^(root:(?:[^:]*:){4})[^:]*/m, `$1${home}`);
  writeFileSync(join(home, ".passwd"), passwd, { mode: 0o644 });
}
