import type { HostSpec } from "./spec";

/**
 * Commands for people to paste, which reach the declared host the way the provider does: jump host, port, user, configuration, agent.
 * A key or password given as text has no place in a command; ssh then asks, or finds a key of its own.
 */

/** Opens a local port that leads to `address`:`port` as seen from the host. */
export function tunnelCommand(host: HostSpec, address: string, port: number): string {
  const forward = `${String(port)}:${bracketed(address)}:${String(port)}`;
  return ["ssh", "-N", "-L", forward, ...sshWords(host)].join(" ");
}

/** Shows the end of a file of the host. */
export function logCommand(host: HostSpec, path: string): string {
  return hostCommand(host, `tail -n 200 ${shellWord(path)}`);
}

/** Runs a line of shell on the host. */
export function hostCommand(host: HostSpec, line: string): string {
  return ["ssh", ...sshWords(host), shellWord(line)].join(" ");
}

/** An IPv6 address as it stands before a port. */
export function bracketed(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

function sshWords(host: HostSpec): readonly string[] {
  const words: string[] = [];
  if (host.sshConfigFile !== null) words.push("-F", shellWord(host.sshConfigFile));
  if (host.knownHostsFile !== null) words.push("-o", sshOption("UserKnownHostsFile", host.knownHostsFile));
  if (host.agentSocketPath !== null) words.push("-o", sshOption("IdentityAgent", host.agentSocketPath));
  if (host.proxy !== null) words.push("-J", shellWord(jumpName(host.proxy)));
  if (host.port !== null) words.push("-p", String(host.port));
  return [...words, shellWord(userAtHost(host))];
}

/** ssh splits such values at blanks, unless they stand in its own quotes. */
function sshOption(name: string, path: string): string {
  return shellWord(`${name}=${/\s/.test(path) ? `"${path}"` : path}`);
}

function jumpName(proxy: HostSpec): string {
  const own = userAtHost({ ...proxy, host: bracketed(proxy.host) });
  const written = proxy.port === null ? own : `${own}:${String(proxy.port)}`;
  return proxy.proxy === null ? written : `${jumpName(proxy.proxy)},${written}`;
}

function userAtHost(host: HostSpec): string {
  return host.user === null ? host.host : `${host.user}@${host.host}`;
}

/** One word of a shell's line; quoted only where a shell would split or expand it. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./[\]~-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
