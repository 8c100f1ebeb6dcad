import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostSpec } from "../../provider/src/core/spec";
import { connect } from "../../provider/src/ssh/connect";
import { resolveTarget } from "../../provider/src/ssh/resolve-target";
import type { ExecResult, Transport } from "../../provider/src/ssh/transport";

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
    sudo: "auto",
    ...given,
  };
}

/** How to reach one of our own sshd processes. */
export function specOf(
  server: {
    readonly address: string;
    readonly port: number;
    readonly user: string;
    readonly privateKey: string;
    readonly knownHostsPath: string;
  },
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

/** Connects, runs one command with this text on its standard input, and closes; what it printed and how it ended. */
export async function runOnce(
  spec: HostSpec,
  command: string,
  given: {
    readonly stdin?: string | Uint8Array;
    readonly connectSeconds?: number;
    readonly deadlineSeconds?: number;
  } = {},
): Promise<ExecResult & { readonly stdout: string }> {
  const connection = await connect(await resolveTarget(spec), { connectSeconds: given.connectSeconds ?? 20 });
  try {
    return await runOn(connection, command, given);
  } finally {
    connection.close();
  }
}

/** The same over a connection that is already there. */
export async function runOn(
  transport: Transport,
  command: string,
  given: { readonly stdin?: string | Uint8Array; readonly deadlineSeconds?: number } = {},
): Promise<ExecResult & { readonly stdout: string }> {
  const chunks: Buffer[] = [];
  const result = await transport.exec(command, {
    stdin: Buffer.from(given.stdin ?? ""),
    onStdout: (chunk) => chunks.push(chunk),
    deadlineSeconds: given.deadlineSeconds ?? 30,
  });
  return { ...result, stdout: Buffer.concat(chunks).toString("utf8") };
}
