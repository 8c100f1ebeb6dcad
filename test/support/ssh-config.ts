import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Bed } from "./bed.ts";

/** Writes an SSH configuration that knows a bed's host by this name; returns its path. */
export function sshConfigOf({ folder, sshd }: Bed, alias = "gpu1"): string {
  const path = join(folder, "ssh_config");
  const rows = [
    ...[`Host ${alias}`, `HostName ${sshd.address}`, `Port ${String(sshd.port)}`, `User ${sshd.user}`],
    ...[`IdentityFile ${sshd.privateKeyPath}`, `UserKnownHostsFile ${sshd.knownHostsPath}`],
  ];
  writeFileSync(path, `${rows.join("\n  ")}\n`);
  return path;
}
