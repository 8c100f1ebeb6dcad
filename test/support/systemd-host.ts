import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ensureHostImage } from "../../scripts/setup-host-image.mjs";
import { eventually } from "./eventually.ts";
import { note, takeAway, type Trace } from "./host-ledger.ts";
import { boot, onDisk, type Machine } from "./host-machine.ts";
import type { HostNetwork } from "./host-network.ts";
import { makeKey, publicLine } from "./sshd.ts";

/** A machine of one's own: systemd as PID 1, sshd, its own address, file system, users and stand-in GPUs. Needs root. */
export interface SystemdHost {
  readonly name: string;
  readonly address: string;
  /** Text of a private key that every user of the host lets in. */
  readonly privateKey: string;
  /** "ssh-ed25519 AAAA..." of the host. */
  readonly hostKeyLine: string;
  /** Its PID 1 as this machine counts; null while the power is off. */
  pid(): number | null;
  /** Runs a shell text on the host, as root or through a login as somebody else, and returns what it printed. Fails when it fails. */
  run(text: string, user?: string): string;
  /** Pulls the plug: nothing is told to end. */
  powerOff(): Promise<void>;
  /** Boots it and waits until it has started all it starts by itself. */
  powerOn(): Promise<void>;
  /** Its network: while unplugged, its connections hear nothing, not even that they are cut. */
  unplug(): void;
  plugIn(): void;
  /** Folder of this machine with all that the host has written, at its paths there; also while its power is off. */
  readonly written: string;
  /** Off for good; its files are removed. */
  close(): Promise<void>;
}

export interface HostUser {
  readonly name: string;
  /** Everything, without a password. */
  readonly sudo?: boolean;
  /** Services of theirs run without a login. */
  readonly linger?: boolean;
}

export interface HostPlan {
  readonly name: string;
  /** Beside root. */
  readonly users: readonly HostUser[];
  /** Folders of this machine that the host sees at the same path, read-only. */
  readonly shows?: readonly string[];
  /**
   * logind's RemoveIPC=: the last logout of a user takes their shared memory away, some seconds later. Debian's default is true;
   * here it is false, since else nobody could count what a server has.
   */
  readonly removesIpc?: boolean;
}

/** Where prepare-host.sh installs the stand-in vLLM. */
export const STAND_IN_EXECUTABLE = "/opt/vllm/bin/vllm";

/** Makes the host and boots it. */
export async function makeSystemdHost(plan: HostPlan, network: HostNetwork): Promise<SystemdHost> {
  const image = await ensureHostImage();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `host-${plan.name}-`)));
  const trace: Trace = { kind: "folder", path: folder };
  note(trace);
  const disk = { image, folder };
  let machine: Machine | null = null;
  const powerOff = async (): Promise<void> => {
    await machine?.end();
    machine = null;
  };
  const close = async (): Promise<void> => {
    await powerOff();
    await takeAway([trace]);
  };
  try {
    const { namespace, name, address, unplug, plugIn } = network.join();
    for (const part of ["upper", "work", "root"]) mkdirSync(join(folder, part));
    const key = makeKey(folder, "client", "ed25519");
    const hostKey = makeKey(folder, "host", "ed25519");
    onDisk(disk, join(import.meta.dirname, "prepare-host.sh"), [
      join(folder, "root"),
      layOutGiven(folder, plan, key, hostKey),
    ]);
    writeFileSync(join(folder, "known_hosts"), `${address} ${publicLine(hostKey)}\n`);
    const words = [
      `--network-namespace-path=${namespace}`,
      `--hostname=${plan.name}`,
      ...(plan.shows ?? []).map((path) => `--bind-ro=${path}`),
    ];
    const run: SystemdHost["run"] = (text, user) => {
      if (machine === null) throw new Error(`${plan.name} is off`);
      if (user === undefined) return execute("nsenter", [...entering(machine.pid), text]);
      return execute("ssh", [...sshOptions(folder, key), `${user}@${address}`, text]);
    };
    const powerOn = async (): Promise<void> => {
      machine ??= await boot(disk, name, words);
      await eventually(`${plan.name} is up`, () => (isUp(run) ? true : null));
    };
    await powerOn();
    const { hostKeyLine, privateKey } = {
      hostKeyLine: publicLine(hostKey),
      privateKey: readFileSync(key, "utf8"),
    };
    const pid = (): number | null => machine?.pid ?? null;
    const written = join(folder, "upper");
    return {
      ...{ name: plan.name, address, privateKey, hostKeyLine, written },
      ...{ pid, run, powerOff, powerOn, unplug, plugIn, close },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The folder that prepare-host.sh makes a machine from. */
function layOutGiven(folder: string, plan: HostPlan, key: string, hostKey: string): string {
  const given = join(folder, "given");
  const files: Readonly<Record<string, string>> = {
    "etc/hostname": `${plan.name}\n`,
    "etc/hosts": `127.0.0.1 localhost\n127.0.1.1 ${plan.name}\n`,
    "etc/machine-id": `${randomUUID().replaceAll("-", "")}\n`,
    "etc/ssh/ssh_host_ed25519_key": readFileSync(hostKey, "utf8"),
    "etc/ssh/ssh_host_ed25519_key.pub": readFileSync(`${hostKey}.pub`, "utf8"),
    "etc/sudoers.d/README": "",
    "etc/systemd/logind.conf.d/ipc.conf": `[Login]\nRemoveIPC=${plan.removesIpc === true ? "yes" : "no"}\n`,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(given, "files", path)), { recursive: true });
    writeFileSync(join(given, "files", path), text);
  }
  const users = [{ name: "root" }, ...plan.users].map(({ name, sudo = false, linger = false }: HostUser) =>
    [name, sudo ? "yes" : "no", linger ? "yes" : "no"].join(" "),
  );
  writeFileSync(join(given, "users"), `${users.join("\n")}\n`);
  writeFileSync(join(given, "authorized_keys"), `${publicLine(key)}\n`);
  cpSync(join(import.meta.dirname, "stand-in"), join(given, "stand-in"), {
    recursive: true,
    filter: (path) => !/__pycache__|node_modules/.test(path),
  });
  return given;
}

function entering(pid: number): readonly string[] {
  const environment = [
    "env",
    "-i",
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME=/root",
  ];
  return ["--target", String(pid), "--all", "--", ...environment, "sh", "-c"];
}

function sshOptions(folder: string, key: string): readonly string[] {
  const options = [
    "BatchMode=yes",
    "ConnectTimeout=5",
    "LogLevel=ERROR",
    `UserKnownHostsFile=${folder}/known_hosts`,
  ];
  return ["-F", "none", "-i", key, ...options.flatMap((option) => ["-o", option])];
}

function execute(program: string, words: readonly string[]): string {
  return execFileSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function isUp(run: SystemdHost["run"]): boolean {
  try {
    // A login before the boot is over is refused by pam_nologin, and user managers would be late.
    return /^(running|degraded)/.test(run("systemctl is-system-running --wait || true"));
  } catch {
    return false;
  }
}
