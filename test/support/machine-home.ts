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
import { hostBlock } from "./ssh-config.ts";
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
  const [privateKeyPath, knownHostsPath] = [join(ssh, "key"), join(ssh, "known_hosts")];
  writeFileSync(privateKeyPath, machine.privateKey, { mode: 0o600 });
  writeFileSync(knownHostsPath, `${machine.address} ${machine.hostKeyLine}\n`);
  const { address } = machine;
  const known = { alias: "gpu1", address, user, privateKeyPath, knownHostsPath };
  writeFileSync(join(ssh, "config"), hostBlock(known));
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
