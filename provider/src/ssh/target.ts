/** One machine to log in to, with everything looked up that this machine (not the host) knows about it. */
export interface Target {
  /** As the user wrote it, for messages and commands. */
  readonly name: string;
  readonly hostname: string;
  readonly port: number;
  readonly user: string;
  readonly credentials: Credentials;
  readonly hostKeys: HostKeyRules;
  /** Tries for connection errors; 0 = until the time for connecting is over. */
  readonly dialErrorLimit: number;
  readonly dialTimeoutSeconds: number;
  /** Hosts to go through, first one first. */
  readonly jumps: readonly Target[];
}

export interface Credentials {
  readonly password: string | null;
  /** Text of a private key. */
  readonly privateKey: string | null;
  readonly passphrase: string | null;
  readonly identityFiles: readonly string[];
  /** Whether the files are ssh's defaults, which need not exist. */
  readonly areDefaultFiles: boolean;
  readonly identitiesOnly: boolean;
  readonly agentSocket: string | null;
  /** Whether the host's inputs name the agent, not only the configuration or the environment. */
  readonly isAgentGiven: boolean;
}

export interface HostKeyRules {
  /** Public key line or "SHA256:..." fingerprint. */
  readonly pinned: string | null;
  /** HostKeyAlias. */
  readonly alias: string | null;
  readonly knownHostsFiles: readonly string[];
  /** Value of StrictHostKeyChecking when it asks for less than a check; it is not followed, only mentioned. */
  readonly ignoredStrictness: string | null;
}

export interface Address {
  readonly hostname: string;
  readonly port: number;
  readonly user: string;
}
