import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import type { HostSpec } from "../core/spec";
import type { SshConfig } from "./config-file";
import type { Address, Credentials, HostKeyRules } from "./target";
import { expandHome, expandPath, expandTokens, type Tokens } from "./tokens";

/** Words of options. Source: OpenSSH 9.2, readconf.c, multistate_flag and multistate_strict_hostkey. */
const YES = new Set(["yes", "true"]);
const LAX = new Set(["no", "false", "off", "accept-new"]);

/** Where a host is, by HostSpec first, then configuration, then ssh's defaults. */
export function addressOf(spec: HostSpec, config: SshConfig): Address {
  const named = first(config, "hostname");
  const hostname =
    named === null ? spec.host : expandTokens(named, { n: spec.host, h: spec.host, p: "", r: "" });
  return {
    hostname,
    port: spec.port ?? (Number(first(config, "port")) || 22),
    user: spec.user ?? first(config, "user") ?? userInfo().username,
  };
}

/** Everything that may prove who we are, none of it read yet. */
export function credentialsOf(spec: HostSpec, config: SshConfig, tokens: Tokens): Credentials {
  const files = (config.get("identityfile") ?? [])
    .filter((file) => file !== "none")
    .map((file) => expandPath(file, tokens));
  const hasFiles = config.has("identityfile");
  return {
    password: spec.password,
    privateKey: spec.privateKey,
    passphrase: spec.privateKeyPassword,
    // Source: ssh(1) tries these; the hardware-key types need a program of their own.
    identityFiles: hasFiles
      ? files
      : ["id_ed25519", "id_ecdsa", "id_rsa"].map((name) => join(homedir(), ".ssh", name)),
    areDefaultFiles: !hasFiles,
    identitiesOnly: YES.has(first(config, "identitiesonly")?.toLowerCase() ?? "no"),
    agentSocket: spec.agentSocketPath === null ? agentOf(config, tokens) : expandHome(spec.agentSocketPath),
    isAgentGiven: spec.agentSocketPath !== null,
  };
}

/** IdentityAgent: a path, "none", "SSH_AUTH_SOCK" or "$NAME". */
function agentOf(config: SshConfig, tokens: Tokens): string | null {
  const wish = first(config, "identityagent") ?? "SSH_AUTH_SOCK";
  if (wish === "none") return null;
  const variable = wish === "SSH_AUTH_SOCK" ? wish : /^\$(\w+)$/.exec(wish)?.[1];
  const path = variable === undefined ? expandPath(wish, tokens) : process.env[variable];
  return path === undefined || path === "" ? null : path;
}

/** What the host has to prove, and where the proof stands. */
export function hostKeyRules(spec: HostSpec, config: SshConfig, tokens: Tokens): HostKeyRules {
  const userFiles =
    spec.knownHostsFile === null
      ? (config.get("userknownhostsfile") ?? ["~/.ssh/known_hosts", "~/.ssh/known_hosts2"])
      : [spec.knownHostsFile];
  const globalFiles = config.get("globalknownhostsfile") ?? [
    "/etc/ssh/ssh_known_hosts",
    "/etc/ssh/ssh_known_hosts2",
  ];
  const strictness = first(config, "stricthostkeychecking")?.toLowerCase() ?? "ask";
  return {
    pinned: spec.hostKey,
    alias: first(config, "hostkeyalias"),
    knownHostsFiles: [...userFiles, ...globalFiles]
      .filter((file) => file !== "none")
      .map((file) => expandPath(file, tokens)),
    ignoredStrictness: LAX.has(strictness) ? strictness : null,
  };
}

/** The first word of an option. */
export function first(config: SshConfig, name: string): string | null {
  return config.get(name)?.[0] ?? null;
}
