import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Door } from "./fleet-hosts.ts";

/** As many at a time as Pulumi refreshes on two cores. */
const AT_A_TIME = 8;

export interface PlainSsh {
  /** Seconds for `count` commands, spread evenly over the hosts. */
  readonly run: (count: number) => Promise<number>;
  readonly remove: () => void;
}

/**
 * OpenSSH's client, one `ssh host true` for each server: what a script needs at the least that looks at every server once.
 * @param isShared one connection a host for all of its commands (ControlMaster), opened anew in each run
 */
export function plainSsh(doors: readonly Door[], isShared: boolean): PlainSsh {
  const folder = mkdtempSync(join(tmpdir(), "plain-ssh-"));
  const knownHosts = join(folder, "known_hosts");
  const lines = doors.map(
    ({ address, port, hostKeyLine }) => `[${address}]:${String(port)} ${hostKeyLine}\n`,
  );
  writeFileSync(knownHosts, lines.join(""));
  const ssh = async (door: Door, words: readonly string[]): Promise<void> => {
    const options = [
      `UserKnownHostsFile=${knownHosts}`,
      "BatchMode=yes",
      "IdentityAgent=none",
      ...(isShared ? ["ControlMaster=auto", "ControlPersist=60", `ControlPath=${folder}/%p`] : []),
    ];
    await promisify(execFile)("ssh", [
      ...["-F", "none", "-i", door.privateKeyPath, "-p", String(door.port)],
      ...options.flatMap((option) => ["-o", option]),
      ...[`${door.user}@${door.address}`, ...words],
    ]);
  };
  const run = async (count: number): Promise<number> => {
    const begin = performance.now();
    const left = Array.from({ length: count }, (_none, index) => index);
    // Those that come at the same moment would each open a connection.
    const firsts = isShared ? left.splice(0, doors.length) : [];
    await Promise.all(doors.slice(0, firsts.length).map((door) => ssh(door, ["true"])));
    const worker = async (): Promise<void> => {
      for (let index = left.shift(); index !== undefined; index = left.shift()) {
        const door = doors[index % doors.length];
        if (door !== undefined) await ssh(door, ["true"]);
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, worker));
    const seconds = (performance.now() - begin) / 1000;
    if (isShared) await Promise.all(doors.map((door) => ssh(door, ["-O", "exit"])));
    return seconds;
  };
  return { run, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
