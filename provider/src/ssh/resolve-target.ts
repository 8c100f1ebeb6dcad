import { VllmServerError } from "../core/errors";
import { parseHostText } from "../core/input-host";
import { DEFAULTS, type HostSpec } from "../core/spec";
import { readSshConfig, type SshConfig } from "./config-file";
import type { Address, Target } from "./target";
import { addressOf, credentialsOf, first, hostKeyRules } from "./target-options";
import type { Tokens } from "./tokens";

const MOST_JUMPS = 8;

/**
 * Looks a host up in the SSH configuration; what the HostSpec says itself wins. Fails with INPUT_INVALID for a configuration
 * that cannot be read, needs ProxyCommand, or jumps in a circle. No network.
 */
export function resolveTarget(host: HostSpec): Promise<Target> {
  return new Promise((resolve) => {
    resolve(resolve_(host, 0));
  });
}

function resolve_(spec: HostSpec, depth: number): Target {
  if (depth > MOST_JUMPS)
    throw invalid(spec, `ProxyJump leads through more than ${String(MOST_JUMPS)} hosts`, "host.proxy");
  const config = readSshConfig(spec.host, spec.user, spec.sshConfigFile);
  const port = first(config, "port");
  if (spec.port === null && port !== null && !isPort(port))
    throw invalid(
      spec,
      `the SSH configuration gives it Port ${port}, need a number from 1 to 65535`,
      "host.port",
      "Port in the SSH configuration, or host.port",
    );
  const address = addressOf(spec, config);
  const tokens: Tokens = { n: spec.host, h: address.hostname, p: String(address.port), r: address.user };
  const connectTimeout = Number(first(config, "connecttimeout"));
  // An input that was left out is no wish of the user's, so the configuration's comes before it.
  const isDefaultTimeout = spec.perDialTimeoutSeconds === DEFAULTS.perDialTimeoutSeconds;
  return {
    name: spec.host,
    ...address,
    credentials: credentialsOf(spec, config, tokens),
    hostKeys: hostKeyRules(spec, config, tokens),
    dialErrorLimit: spec.dialErrorLimit,
    dialTimeoutSeconds: isDefaultTimeout && connectTimeout > 0 ? connectTimeout : spec.perDialTimeoutSeconds,
    jumps: jumpsOf(spec, config, address, depth),
  };
}

function jumpsOf(spec: HostSpec, config: SshConfig, own: Address, depth: number): readonly Target[] {
  if (spec.proxy !== null) return chain(resolve_(spec.proxy, depth + 1));
  const words = first(config, "proxyjump");
  // ssh takes whichever of the two it reads first; the reader keeps that order.
  const command = first(config, "proxycommand");
  if (
    command !== null &&
    command !== "none" &&
    (words === null || comesFirst(config, "proxycommand", "proxyjump"))
  ) {
    throw invalid(
      spec,
      "the SSH configuration reaches it through ProxyCommand, which is not supported",
      "host.proxy",
    );
  }
  if (words === null || words.toLowerCase() === "none") return [];
  const hops = words.split(",").map((word) => hopSpec(spec, withoutScheme(word.trim())));
  // Only the first hop is reached by its own configuration, the others through the one before.
  const targets = hops.flatMap((hop, index) => {
    const target = resolveHop(hop, own, depth);
    if (target === null) return [];
    return index === 0 ? chain(target) : [target];
  });
  return targets;
}

/** null: the hop is the host itself, as "Host *" with ProxyJump makes it; ssh leaves that out too. */
function resolveHop(hop: HostSpec, own: Address, depth: number): Target | null {
  const address = addressOf(hop, readSshConfig(hop.host, hop.user, hop.sshConfigFile));
  if (address.hostname === own.hostname && address.port === own.port && address.user === own.user)
    return null;
  return resolve_(hop, depth + 1);
}

function chain(target: Target): readonly Target[] {
  return [...target.jumps, target];
}

function isPort(text: string): boolean {
  return /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 65535;
}

/** ssh takes a hop as ssh://user@host:port/ too. */
function withoutScheme(word: string): string {
  return word.startsWith("ssh://") ? word.slice("ssh://".length).replace(/\/$/, "") : word;
}

function comesFirst(config: SshConfig, name: string, other: string): boolean {
  const names = [...config.keys()];
  return !config.has(other) || names.indexOf(name) < names.indexOf(other);
}

/** A hop of ProxyJump has nothing of its own: the rest comes from the configuration, agent and default keys. */
function hopSpec(spec: HostSpec, word: string): HostSpec {
  const parsed = parseHostText(word);
  if (parsed === null) throw invalid(spec, `"${word}" of ProxyJump is no host`, "host.proxy");
  return {
    ...parsed,
    password: null,
    privateKey: null,
    privateKeyPassword: null,
    agentSocketPath: spec.agentSocketPath,
    hostKey: null,
    proxy: null,
    dialErrorLimit: spec.dialErrorLimit,
    perDialTimeoutSeconds: spec.perDialTimeoutSeconds,
    knownHostsFile: spec.knownHostsFile,
    sshConfigFile: spec.sshConfigFile,
    python: null,
    sudo: spec.sudo,
  };
}

function invalid(
  spec: HostSpec,
  found: string,
  path: string,
  change = "give the jump host as host.proxy, or as ProxyJump in the SSH configuration",
): VllmServerError {
  return new VllmServerError({
    code: "INPUT_INVALID",
    summary: `Cannot look up host ${spec.host}: ${found}`,
    change,
    path,
    retryable: false,
  });
}
