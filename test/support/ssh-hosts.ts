import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostSpec } from "../../provider/src/core/spec";

/** A HostSpec with nothing of this machine's user in it: no configuration file, no SSH agent. */
export function hostSpec(given: Partial<HostSpec> & { readonly host: string }): HostSpec {
  return {
    port: null,
    user: null,
    password: null,
    privateKey: null,
    privateKeyPassword: null,
    agentSocketPath: null,
    hostKey: null,
    proxy: null,
    dialErrorLimit: 1,
    perDialTimeoutSeconds: 10,
    knownHostsFile: null,
    sshConfigFile: "none",
    python: null,
    ...given,
  };
}

/** How to reach one of our own sshd processes. */
export function specOf(
  server: { readonly address: string; readonly port: number; readonly user: string; readonly privateKey: string; readonly knownHostsPath: string },
  given: Partial<HostSpec> = {},
): HostSpec {
  const { address, port, user, privateKey, knownHostsPath } = server;
  return hostSpec({ host: address, port, user, privateKey, knownHostsFile: knownHostsPath, ...given });
}

/** A folder of its own; `remove` takes it away. */
export function temporaryFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "transport-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
