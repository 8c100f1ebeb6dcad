import type { HostSpec } from "../core/spec";
import { readSshConfig } from "./config-file";
import { addressOf } from "./target-options";

/**
 * "user@hostname:port": names the machine and account, whatever alias or credentials lead there. Reads the SSH configuration,
 * never the network; one that cannot be read counts as empty, since connecting will tell. Jump hosts are not part of it.
 */
export function hostIdentity(spec: HostSpec): string {
  const { user, hostname, port } = addressOf(spec, configOrEmpty(spec));
  return `${user}@${hostname.toLowerCase()}:${String(port)}`;
}

function configOrEmpty(spec: HostSpec): ReturnType<typeof readSshConfig> {
  try {
    return readSshConfig(spec.host, spec.user, spec.sshConfigFile);
  } catch {
    return new Map();
  }
}
