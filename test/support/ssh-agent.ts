import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export interface SshAgent {
  readonly socket: string;
  /** Loads a private key file; one with a passphrase needs it typed and cannot be loaded here. */
  add(privateKeyPath: string): Promise<void>;
  stop(): Promise<void>;
}

/** The real ssh-agent, in the foreground. */
export async function startSshAgent(): Promise<SshAgent> {
  const folder = mkdtempSync(join(tmpdir(), "ssh-agent-"));
  const socket = join(folder, "agent.sock");
  const child = spawn("ssh-agent", ["-D", "-a", socket], { stdio: ["ignore", "pipe", "inherit"] });
  // It prints its environment once the socket is there.
  await once(child.stdout, "data");
  return {
    socket,
    add: async (path) => {
      await promisify(execFile)("ssh-add", ["-q", path], { env: { ...process.env, SSH_AUTH_SOCK: socket } });
    },
    stop: async () => {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
