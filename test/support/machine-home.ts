import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { SystemdHost } from "./systemd-host.ts";

/** A home folder of this machine whose ~/.ssh/config knows a machine as gpu1, with an `ssh` that reads it. */
export interface MachineHome {
  readonly folder: string;
  /** HOME, and PATH with that ssh before what is in `path`. */
  environment(path: string): Readonly<Record<string, string>>;
  /** What ssh was called with so far, a line a call. */
  sshCalls(): readonly string[];
  remove(): void;
}

export function homeThatKnowsMachine(machine: SystemdHost, user: string): MachineHome {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "home-")));
  const [ssh, bin, calls] = [join(folder, ".ssh"), join(folder, "bin"), join(folder, "ssh-calls")];
  mkdirSync(ssh, { mode: 0o700 });
  mkdirSync(bin);
  writeFileSync(join(ssh, "key"), machine.privateKey, { mode: 0o600 });
  writeFileSync(join(ssh, "known_hosts"), `${machine.address} ${machine.hostKeyLine}\n`);
  const rows = [
    ...["Host gpu1", `HostName ${machine.address}`, `User ${user}`, `IdentityFile ${ssh}/key`],
    `UserKnownHostsFile ${ssh}/known_hosts`,
  ];
  writeFileSync(join(ssh, "config"), `${rows.join("\n  ")}\n`);
  // OpenSSH takes the account's home folder for ~, whatever HOME says.
  const lines = ["#!/bin/sh", `echo "$*" >>"${calls}"`, `exec /usr/bin/ssh -F "${ssh}/config" "$@"`];
  writeFileSync(join(bin, "ssh"), `${lines.join("\n")}\n`);
  chmodSync(join(bin, "ssh"), 0o755);
  writeFileSync(calls, "");
  return {
    folder,
    environment: (path) => ({ HOME: folder, PATH: [bin, path].join(delimiter) }),
    sshCalls: () =>
      readFileSync(calls, "utf8")
        .split("\n")
        .filter((line) => line !== ""),
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
