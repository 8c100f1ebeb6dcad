import type { JsonObject, JsonValue } from "./json";

/** What a user declared, parsed and with every default filled in (parse-inputs.ts makes it). Immutable; secrets are plain here. */
export interface Spec {
  readonly host: HostSpec;
  readonly model: { readonly path: string };
  /** vLLM's own names; "auto" leaves the checkpoint's wish alone. */
  readonly kvCacheDtype: string;
  readonly quantizationConfigOverrides: JsonObject;
  readonly configOverrides: JsonObject;
  /** null: `vllm` of the user's login environment on the host. */
  readonly vllm: { readonly executable: string | null };
  /** camelCase names of vLLM's flags, only those that were given. */
  readonly engine: EngineSpec;
  /** vLLM's long names without dashes in front, only those that were given. */
  readonly extraArgs: JsonObject;
  readonly environment: Readonly<Record<string, string>>;
  readonly gpus: GpuWish;
  readonly listen: { readonly address: string; readonly port: number };
  readonly allowUnauthenticated: boolean;
  readonly apiKey: string | null;
  readonly service: ServiceSpec;
  readonly readiness: { readonly probe: ProbeKind };
  readonly timeouts: Timeouts;
  readonly onDelete: { readonly unreachableHost: "fail" | "forget" };
}

export interface HostSpec {
  /** Host name, address or alias of ~/.ssh/config. */
  readonly host: string;
  readonly port: number | null;
  readonly user: string | null;
  readonly password: string | null;
  readonly privateKey: string | null;
  readonly privateKeyPassword: string | null;
  readonly agentSocketPath: string | null;
  /** An OpenSSH public key line or "SHA256:..." fingerprint; pins the host key. */
  readonly hostKey: string | null;
  readonly proxy: HostSpec | null;
  /** Tries for connection errors; 0 or less = without limit until timeouts.connect. */
  readonly dialErrorLimit: number;
  /** 0 = without limit until timeouts.connect. */
  readonly perDialTimeoutSeconds: number;
  readonly knownHostsFile: string | null;
  readonly sshConfigFile: string | null;
  /** Path of the Python on the host; null: /usr/bin/python3, then PATH. */
  readonly python: string | null;
  /** Whether `sudo -n` may be used on the host, where it works without a password. */
  readonly sudo: "auto" | "never";
}

/** Who looks after the process on the host. */
export const MANAGERS = ["systemd", "systemd-user", "process"] as const;
export type ManagerKind = (typeof MANAGERS)[number];
export type ManagerWish = "auto" | ManagerKind;

export interface ServiceSpec {
  readonly manager: ManagerWish;
  readonly startOnBoot: boolean;
  readonly restart: RestartPolicy;
  readonly logs: LogPolicy;
}

export interface LogPolicy {
  /** Logs of the newest starts that stay, the running one's among them. */
  readonly keep: number;
  /** Of each of them, also while it is written. */
  readonly maxBytes: number;
}

export type EngineSpec = Readonly<Record<string, JsonValue>>;

/** "none" never comes from inputs: it is what a host without nvidia-smi gets. */
export type GpuWish =
  | { readonly kind: "derived"; readonly count: number }
  | { readonly kind: "count"; readonly count: number }
  | { readonly kind: "list"; readonly ids: readonly (number | string)[] };

export interface RestartPolicy {
  /** Automatic restarts allowed within the window; 0 = never. */
  readonly max: number;
  readonly withinSeconds: number;
  readonly delaySeconds: number;
}

export type ProbeKind = "auto" | "completion" | "chat" | "embedding" | "health";

/** Seconds per phase. */
export interface Timeouts {
  readonly connect: number;
  readonly ready: number;
  readonly stop: number;
}

/** What an input is when it is not given. Stands here and nowhere else. */
export const DEFAULTS = {
  kvCacheDtype: "auto",
  listen: { address: "127.0.0.1", port: 8000 },
  allowUnauthenticated: false,
  manager: "auto",
  startOnBoot: true,
  restart: { max: 5, withinSeconds: 600, delaySeconds: 5 },
  logs: { keep: 5, maxBytes: 104_857_600 },
  probe: "auto",
  timeouts: { connect: 30, ready: 3600, stop: 120 },
  dialErrorLimit: 10,
  perDialTimeoutSeconds: 15,
  sudo: "auto",
  unreachableHost: "fail",
} as const satisfies {
  readonly kvCacheDtype: string;
  readonly listen: Spec["listen"];
  readonly allowUnauthenticated: boolean;
  readonly manager: ManagerWish;
  readonly startOnBoot: boolean;
  readonly restart: RestartPolicy;
  readonly logs: LogPolicy;
  readonly probe: ProbeKind;
  readonly timeouts: Timeouts;
  readonly dialErrorLimit: number;
  /** 0 = without limit until timeouts.connect. */
  readonly perDialTimeoutSeconds: number;
  readonly sudo: HostSpec["sudo"];
  readonly unreachableHost: Spec["onDelete"]["unreachableHost"];
};
