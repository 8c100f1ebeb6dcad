import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureHostImage } from "../../scripts/setup-host-image.mjs";
import { eventually } from "./eventually.ts";
import type { HostNetwork } from "./host-network.ts";
import { descendantsOf, killQuietly } from "./process-tree.ts";
import { makeKey, publicLine } from "./sshd.ts";

/** A machine of one's own: systemd as PID 1, sshd, its own network address and file system. Needs root. */
export interface SystemdHost {
  readonly name: string;
  readonly address: string;
  /** Text of a private key that every user of the host lets in. */
  readonly privateKey: string;
  /** "ssh-ed25519 AAAA..." of the host. */
  readonly hostKeyLine: string;
  /** Folder on this machine that is the host's file system. */
  readonly root: string;
  /** Runs a shell text on the host, as root unless told otherwise, and returns what it printed. Fails when it fails. */
  run(text: string, user?: string): string;
  /** Pulls the plug: nothing is told to end. */
  powerOff(): Promise<void>;
  /** Boots it and waits until sshd answers. */
  powerOn(): Promise<void>;
  /** Off for good; its files are removed. */
  close(): Promise<void>;
}

export interface HostPlan {
  readonly name: string;
  /** Beside root. `sudo`: everything without a password. `linger`: services of theirs run without a login. */
  readonly users: readonly { readonly name: string; readonly sudo?: boolean; readonly linger?: boolean }[];
  /** Folders of this machine that the host sees at the same path, read-only. */
  readonly shows?: readonly string[];
}

/** Makes the host and boots it. */
export async function makeSystemdHost(plan: HostPlan, network: HostNetwork): Promise<SystemdHost> {
  const image = await ensureHostImage();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `host-${plan.name}-`)));
  const root = mountLayer(image, folder);
  const { namespace, address } = network.join();
  const key = makeKey(folder, "client", "ed25519");
  const hostKey = makeKey(folder, "host", "ed25519");
  prepare(root, plan, publicLine(key), hostKey);
  const run = (text: string, user = "root"): string =>
    execFileSync("ssh", [...sshOptions(folder, key), `${user}@${address}`, text], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  writeFileSync(join(folder, "known_hosts"), `${address} ${publicLine(hostKey)}\n`);
  let machine: Machine | null = null;
  const powerOff = async (): Promise<void> => {
    await machine?.end();
    machine = null;
  };
  const powerOn = async (): Promise<void> => {
    machine ??= boot(root, plan, namespace);
    await eventually(`${plan.name} lets in`, () => (answers(run) ? true : null));
  };
  const close = async (): Promise<void> => {
    await powerOff();
    execFileSync("umount", [root]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await powerOn();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    name: plan.name,
    address,
    privateKey: readFileSync(key, "utf8"),
    hostKeyLine: publicLine(hostKey),
    root,
    run,
    powerOff,
    powerOn,
    close,
  };
}

/** A writable layer over the image, which stays as it is. */
function mountLayer(image: string, folder: string): string {
  const [upper, work, root] = ["upper", "work", "root"].map((name) => join(folder, name));
  for (const path of [upper, work, root]) mkdirSync(path ?? "");
  const options = `lowerdir=${image},upperdir=${upper ?? ""},workdir=${work ?? ""}`;
  execFileSync("mount", ["-t", "overlay", "overlay", "-o", options, root ?? ""]);
  return root ?? "";
}

function prepare(root: string, plan: HostPlan, authorized: string, hostKey: string): void {
  writeFileSync(join(root, "etc/hostname"), `${plan.name}\n`);
  writeFileSync(join(root, "etc/hosts"), `127.0.0.1 localhost\n127.0.1.1 ${plan.name}\n`);
  execFileSync("sh", ["-c", `rm -f ${root}/etc/ssh/ssh_host_*`]);
  for (const end of ["", ".pub"])
    writeFileSync(join(root, `etc/ssh/ssh_host_ed25519_key${end}`), readFileSync(hostKey + end), { mode: 0o600 });
  appendFileSync(join(root, "etc/ssh/sshd_config"), "\nUseDNS no\nMaxStartups 200\nLogLevel VERBOSE\n");
  for (const { name, sudo = false, linger = false } of plan.users) {
    execFileSync("chroot", [root, "useradd", "--create-home", "--shell", "/bin/bash", name]);
    if (sudo) writeFileSync(join(root, "etc/sudoers.d", name), `${name} ALL=(ALL) NOPASSWD: ALL\n`, { mode: 0o440 });
    const lingering = join(root, "var/lib/systemd/linger");
    mkdirSync(lingering, { recursive: true });
    if (linger) writeFileSync(join(lingering, name), "");
  }
  for (const name of ["root", ...plan.users.map((user) => user.name)]) {
    const home = name === "root" ? "root" : `home/${name}`;
    mkdirSync(join(root, home, ".ssh"), { recursive: true, mode: 0o700 });
    writeFileSync(join(root, home, ".ssh/authorized_keys"), `${authorized}\n`, { mode: 0o600 });
    execFileSync("chroot", [root, "chown", "-R", `${name}:`, `/${home}/.ssh`]);
  }
}

interface Machine {
  /** Kills it and all that runs on it. */
  end(): Promise<void>;
}

function boot(root: string, plan: HostPlan, namespace: string): Machine {
  const words = [
    "--quiet",
    "--boot",
    "--register=no",
    "--keep-unit",
    `--directory=${root}`,
    `--machine=${plan.name}`,
    `--network-namespace-path=${namespace}`,
    ...(plan.shows ?? []).map((path) => `--bind-ro=${path}`),
  ];
  const child = spawn("systemd-nspawn", words, { stdio: "ignore" });
  const ended = new Promise<void>((resolve) => child.once("exit", () => {
    resolve();
  }));
  return {
    end: async () => {
      const pid = child.pid;
      if (pid !== undefined && child.exitCode === null && child.signalCode === null) {
        // PID 1 of the machine is a child; when it dies the kernel ends everything in it.
        for (const one of descendantsOf(pid)) killQuietly(one);
      }
      await ended;
    },
  };
}

function sshOptions(folder: string, key: string): readonly string[] {
  const options = ["BatchMode=yes", "ConnectTimeout=5", "LogLevel=ERROR", `UserKnownHostsFile=${folder}/known_hosts`];
  return ["-F", "none", "-i", key, ...options.flatMap((option) => ["-o", option])];
}

function answers(run: SystemdHost["run"]): boolean {
  try {
    // A login before the boot is over is refused by pam_nologin for users, and user managers would be late.
    return /^(running|degraded)/.test(run("systemctl is-system-running --wait || true"));
  } catch {
    return false;
  }
}
