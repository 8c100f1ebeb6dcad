import type { JsonObject, JsonValue } from "./json";

/** What a user declared, parsed and with every default filled in (parse-inputs.ts makes it). Immutable; secrets are plain here. */
export interface Spec {
  readonly host: HostSpec;
  readonly model: ModelSpec;
  /** vLLM's own names; "auto" leaves the checkpoint's wish alone. */
  readonly kvCacheDtype: string;
  readonly quantizationConfigOverrides: JsonObject;
  readonly configOverrides: JsonObject;
  readonly vllm: VllmSpec;
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
  readonly update: { readonly returnToLastGood: boolean };
  readonly onDelete: { readonly unreachableHost: "fail" | "forget"; readonly model: "keep" | "purge" };
}

export type ModelSpec = LocalModel | HubModel;

/** A folder on the host. */
export interface LocalModel {
  readonly kind: "local";
  readonly path: string;
  readonly verify: VerifyDepth;
}

/** A repository of a hub, downloaded to the host's cache. */
export interface HubModel {
  readonly kind: "hub";
  /** "org/name" */
  readonly repo: string;
  /** 40 hex digits, a branch, a tag; null: the default branch. */
  readonly revision: string | null;
  /** Patterns as the hub's client takes them; null: what vLLM loads, without the duplicates beside it. */
  readonly include: readonly string[] | null;
  readonly exclude: readonly string[] | null;
  /** null: what the host's login environment has. */
  readonly token: string | null;
  /** May hold credentials. null: what the host's login environment says. */
  readonly endpoint: string | null;
  /** On the host; null: where the hub's client puts it. */
  readonly cacheDir: string | null;
  readonly verify: VerifyDepth;
}

/** How closely weights are looked at before a start: sizes and headers of each, or the hash of every byte. */
export const VERIFY_DEPTHS = ["headers", "full"] as const;
export type VerifyDepth = (typeof VERIFY_DEPTHS)[number];

export type VllmSpec = InstalledVllm | VllmEnvironment;

/** One that is on the host, and is never changed. */
export interface InstalledVllm {
  readonly kind: "executable";
  /** null: `vllm` of the user's login environment on the host. */
  readonly executable: string | null;
}

/** One that is installed into an environment of its own on the host. */
export interface VllmEnvironment {
  readonly kind: "environment";
  /** null: the newest at the time of the installation. */
  readonly version: string | null;
  /** Requirements beside vLLM. */
  readonly packages: readonly string[];
  /** May hold credentials, like each of extraIndexUrls. null: the host's own configuration. */
  readonly indexUrl: string | null;
  readonly extraIndexUrls: readonly string[];
  /** "3.12", or a path of an interpreter; null: what the installer picks. */
  readonly python: string | null;
  /** uv's word for which PyTorch: "auto", "cpu", "cu128", ...; null: not given. */
  readonly torchBackend: string | null;
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
  /** For the whole installation of vLLM. */
  readonly install: number;
  /** Without a byte, not in total. */
  readonly download: number;
  readonly ready: number;
  /** Of a start, without a sign of life; 0: without limit. */
  readonly stall: number;
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
  // torch ends a collective operation itself after 600 s, and says which: it comes first.
  timeouts: { connect: 30, install: 3600, download: 120, ready: 3600, stall: 900, stop: 120 },
  dialErrorLimit: 10,
  perDialTimeoutSeconds: 15,
  sudo: "auto",
  returnToLastGood: true,
  unreachableHost: "fail",
  verify: "headers",
  modelOnDelete: "keep",
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
  readonly returnToLastGood: boolean;
  readonly unreachableHost: Spec["onDelete"]["unreachableHost"];
  readonly verify: VerifyDepth;
  readonly modelOnDelete: Spec["onDelete"]["model"];
};
