import type { Input } from "@pulumi/pulumi";

/**
 * How to reach a machine over SSH. A superset of `@pulumi/command`'s `remote.ConnectionArgs`, so one
 * object serves both. What is not given comes from ~/.ssh/config, the SSH agent and the default key files, each looked up when it
 * is used. A change of host or port is another machine: replacement, the new one first. A change of anything else reaches
 * the next operation (destroy too) without touching the server.
 */
export interface HostArgs {
  /** Host name, address, or alias of ~/.ssh/config. Required. */
  readonly host: Input<string>;
  /** TCP port of sshd. Default: ~/.ssh/config, else 22. */
  readonly port?: Input<number> | undefined;
  /** User on the host; the server runs as this user. Default: ~/.ssh/config, else the local user's name. */
  readonly user?: Input<string> | undefined;
  /** Password of that user. Always a secret. Default: none. */
  readonly password?: Input<string> | undefined;
  /** Text of a private key (OpenSSH or PEM), not a path. Always a secret. Default: agent, then key files. */
  readonly privateKey?: Input<string> | undefined;
  /** Passphrase of privateKey. Always a secret. Default: none. */
  readonly privateKeyPassword?: Input<string> | undefined;
  /** Socket of an SSH agent. Default: IdentityAgent of ~/.ssh/config, else SSH_AUTH_SOCK. */
  readonly agentSocketPath?: Input<string> | undefined;
  /**
   * The host's public key line ("ssh-ed25519 AAAA...") or "SHA256:..." fingerprint; nothing else is accepted then.
   * Default: the known_hosts files decide, and an unknown or changed key is an error that shows its fingerprint.
   */
  readonly hostKey?: Input<string> | undefined;
  /** The jump host to go through. Default: ProxyJump of ~/.ssh/config, else none. */
  readonly proxy?: Input<ProxyArgs> | undefined;
  /** Tries for connection errors (never for a wrong key or password); 0 or -1 = until timeouts.connect is over. Default 10. */
  readonly dialErrorLimit?: Input<number> | undefined;
  /** Seconds one try may take; 0 = until timeouts.connect is over. Default 15. */
  readonly perDialTimeout?: Input<number> | undefined;
  /** A known_hosts file instead of UserKnownHostsFile of ~/.ssh/config. */
  readonly knownHostsFile?: Input<string> | undefined;
  /** An SSH configuration file instead of ~/.ssh/config. */
  readonly sshConfigFile?: Input<string> | undefined;
  /** Path of Python (3.9 or newer) on the host. Default: /usr/bin/python3, then `python3` of PATH. */
  readonly python?: Input<string> | undefined;
  /**
   * Whether sudo may be used on the host for a system unit (service.manager): "auto" where it asks for no password, or "never".
   * It is never used for anything else, and vLLM always runs as the user. Default "auto".
   */
  readonly sudo?: Input<"auto" | "never"> | undefined;
}

/** A jump host: reached like a host, but nothing is run on it. */
export type ProxyArgs = Omit<HostArgs, "proxy" | "knownHostsFile" | "sshConfigFile" | "python" | "sudo">;
