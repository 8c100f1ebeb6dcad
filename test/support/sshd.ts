import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { descendantsOf, executableOf, killQuietly, startOf } from "./process-tree.ts";

/** A plain module: vitest suites and the demo script (Node's type stripping) both use it. */

export type HostKeyType = "ed25519" | "ecdsa" | "rsa";

export interface SshdOptions {
  /** HOME of every command, so that each test host has its own state. Must exist. */
  readonly home: string;
  /** PATH of every command; default is what sshd gives. */
  readonly path?: string;
  /** More environment of every command. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Loopback address, 127.0.0.1 by default; 127.0.0.2 and so on make a fleet. */
  readonly address?: string;
  /** Host keys to make; one ed25519 key by default. */
  readonly hostKeyTypes?: readonly HostKeyType[];
  /** Public key lines let in beside the key that is made. */
  readonly authorizedKeys?: readonly string[];
  /** More lines of sshd_config; they come first, and sshd takes the first value of an option. */
  readonly config?: readonly string[];
}

export interface Sshd {
  readonly address: string;
  readonly port: number;
  readonly user: string;
  /** Text of a private key (ed25519, no passphrase) that is let in. */
  readonly privateKey: string;
  readonly privateKeyPath: string;
  /** A known_hosts file that holds every host key. */
  readonly knownHostsPath: string;
  /** "ssh-ed25519 AAAA..." of the first host key. */
  readonly hostKeyLine: string;
  readonly hostKeyLines: readonly string[];
  readonly pid: number;
  /** TCP connections accepted so far. */
  connectionCount(): number;
  /** Commands run so far, over all connections. */
  execCount(): number;
  /** sshd's own log, LogLevel VERBOSE. */
  logs(): string;
  /** Resolves once the log matches; the caller's own deadline bounds it. */
  logged(pattern: RegExp): Promise<void>;
  /** Breaks every connection at once, as a dead network would for the host: no goodbye, commands are not signalled. */
  cutAll(): void;
  /** Ends sshd, its connections and the commands that still hang on them; removes its files. */
  stop(): Promise<void>;
}

const sshdPath = "/usr/sbin/sshd";

/** Starts Debian's sshd in the foreground as the current user, on a free port. Rejects with sshd's log when it does not come up. */
export async function startSshd(options: SshdOptions): Promise<Sshd> {
  // sshd as root drops privileges into this folder; a container without an init system lacks it.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sshd-")));
  try {
    const keys = makeKeys(folder, options);
    for (let attempt = 1; ; attempt += 1) {
      const started = await launch(folder, options, keys);
      if (started !== null) return started;
      if (attempt === 5) throw new Error("sshd: no free port after 5 tries");
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

interface Keys {
  readonly hostKeyPaths: readonly string[];
  readonly hostKeyLines: readonly string[];
  readonly privateKeyPath: string;
}

function makeKeys(folder: string, options: SshdOptions): Keys {
  const hostKeyPaths = (options.hostKeyTypes ?? ["ed25519"]).map((type) =>
    makeKey(folder, `host_${type}`, type),
  );
  const privateKeyPath = makeKey(folder, "client", "ed25519");
  const authorized = [publicLine(privateKeyPath), ...(options.authorizedKeys ?? [])];
  writeFileSync(join(folder, "authorized_keys"), `${authorized.join("\n")}\n`);
  return { hostKeyPaths, hostKeyLines: hostKeyPaths.map(publicLine), privateKeyPath };
}

/** ssh-keygen's key pair in `folder`; returns the path of the private half. */
export function makeKey(folder: string, name: string, type: HostKeyType, passphrase = ""): string {
  const path = join(folder, name);
  execFileSync("ssh-keygen", ["-q", "-t", type, "-N", passphrase, "-C", name, "-f", path]);
  return path;
}

/** Type and key of a public key file, without its comment. */
export function publicLine(privateKeyPath: string): string {
  return readFileSync(`${privateKeyPath}.pub`, "utf8").trim().split(" ").slice(0, 2).join(" ");
}

/** null: somebody took the port between the look and the start. */
async function launch(folder: string, options: SshdOptions, keys: Keys): Promise<Sshd | null> {
  const address = options.address ?? "127.0.0.1";
  const port = await freePort(address);
  const configPath = join(folder, "sshd_config");
  writeFileSync(configPath, configText(folder, options, keys, address, port));
  const knownHostsPath = join(folder, "known_hosts");
  writeFileSync(
    knownHostsPath,
    keys.hostKeyLines.map((line) => `[${address}]:${String(port)} ${line}\n`).join(""),
  );

  const child = spawn(sshdPath, ["-D", "-e", "-f", configPath], { stdio: ["ignore", "ignore", "pipe"] });
  const log = followLog(child);
  const outcome = await Promise.race([
    log.logged(/Server listening on/).then(() => "up"),
    log.ended.then(() => "down"),
  ]);
  if (outcome === "down") {
    if (/Address already in use/.test(log.text())) return null;
    throw new Error(`sshd did not start:\n${log.text()}`);
  }
  const pid = child.pid ?? 0;
  const orphaned = new Map<number, string>();
  const cutAll = (): void => {
    const program = executableOf(pid);
    const all = descendantsOf(pid);
    for (const one of all) if (executableOf(one) !== program) orphaned.set(one, startOf(one));
    for (const one of all) if (executableOf(one) === program) killQuietly(one);
  };
  return {
    address,
    port,
    user: userInfo().username,
    privateKey: readFileSync(keys.privateKeyPath, "utf8"),
    privateKeyPath: keys.privateKeyPath,
    knownHostsPath,
    hostKeyLine: keys.hostKeyLines[0] ?? "",
    hostKeyLines: keys.hostKeyLines,
    pid,
    connectionCount: () => log.text().match(/^Connection from /gm)?.length ?? 0,
    execCount: () => log.text().match(/^Starting session: (?:forced-)?command/gm)?.length ?? 0,
    logs: log.text,
    logged: log.logged,
    cutAll,
    stop: async () => {
      const commands = descendantsOf(pid);
      child.kill("SIGTERM");
      for (const one of commands) killQuietly(one);
      for (const [one, start] of orphaned) if (start !== "" && startOf(one) === start) killQuietly(one);
      await log.ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function configText(folder: string, options: SshdOptions, keys: Keys, address: string, port: number): string {
  const environment = {
    HOME: options.home,
    // Each is a host of its own, whose starts wait for no other's.
    PULUMI_VLLM_HOST_SCOPE: options.home,
    ...(options.path === undefined ? {} : { PATH: options.path }),
    ...options.environment,
  };
  const lines = [
    ...(options.config ?? []),
    `ListenAddress ${address}`,
    `Port ${String(port)}`,
    ...keys.hostKeyPaths.map((path) => `HostKey ${path}`),
    `AuthorizedKeysFile ${join(folder, "authorized_keys")}`,
    // sshd applies these last, over its own HOME and PATH; only the first SetEnv line counts.
    `SetEnv ${Object.entries(environment)
      .map(([name, value]) => `"${name}=${value}"`)
      .join(" ")}`,
    "PidFile none",
    "UsePAM no",
    "StrictModes no",
    "PermitRootLogin yes",
    "PermitUserRC no",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "UseDNS no",
    "PrintMotd no",
    "MaxStartups 200",
    "LogLevel VERBOSE",
  ];
  return `${lines.join("\n")}\n`;
}

interface Log {
  text(): string;
  logged(pattern: RegExp): Promise<void>;
  readonly ended: Promise<void>;
}

function followLog(child: ChildProcess): Log {
  let text = "";
  const waiting = new Set<() => void>();
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk.replaceAll("\r\n", "\n");
    for (const check of waiting) check();
  });
  const logged = (pattern: RegExp): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!pattern.test(text)) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => {
      resolve();
    });
    child.once("error", (error) => {
      text += `${error.message}\n`;
      resolve();
    });
  });
  return { text: () => text, logged, ended };
}
