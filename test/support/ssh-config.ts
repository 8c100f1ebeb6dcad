import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Bed } from "./bed.ts";

/** What an SSH configuration says of one host. */
export interface KnownHost {
  readonly alias: string;
  readonly address: string;
  /** Default 22. */
  readonly port?: number;
  readonly user: string;
  readonly privateKeyPath: string;
  readonly knownHostsPath: string;
}

/** The block of one host in an SSH configuration. */
export function hostBlock(host: KnownHost): string {
  const { alias, address, port = 22, user, privateKeyPath, knownHostsPath } = host;
  const rows = [
    ...[`Host ${alias}`, `HostName ${address}`, `Port ${String(port)}`, `User ${user}`],
    ...[`IdentityFile ${privateKeyPath}`, `UserKnownHostsFile ${knownHostsPath}`],
  ];
  return `${rows.join("\n  ")}\n`;
}

/** Writes an SSH configuration that knows a bed's host by this name; returns its path. */
export function sshConfigOf({ folder, sshd }: Bed, alias = "gpu1"): string {
  const path = join(folder, "ssh_config");
  writeFileSync(path, hostBlock({ alias, ...sshd }));
  return path;
}
