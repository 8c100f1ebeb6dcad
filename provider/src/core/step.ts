import type { JsonObject } from "./json";
import type { OwnerRecord } from "./observed";
import type {
  HostSpec,
  HubModel,
  LogPolicy,
  ManagerWish,
  ProbeKind,
  RestartPolicy,
  VerifyDepth,
  VllmEnvironment,
} from "./spec";

/**
 * What plan.ts decides and the agent carries out, in order, in one request. Travels as JSON.
 * Every step can be repeated and cut at any point.
 */
export type Step =
  | ClaimStep
  | InstallStep
  | FetchStep
  | OverlayStep
  | StopStep
  | StartStep
  | WaitStep
  | ReturnStep
  | PolicyStep
  | ConfirmStep
  | ForgetStep;

/** Writes the owner record, unconfirmed when it is new; a known one stays as it is but for whose it is now. Refuses a confirmed record of another resource. */
export interface ClaimStep {
  readonly kind: "claim";
  readonly owner: OwnerRecord;
}

/** Builds <stateRoot>/environments/<name> where it is not complete; one that is, is left as it is. Goes on by itself on the host. */
export interface InstallStep {
  readonly kind: "install";
  readonly environment: EnvironmentWish;
  /** For the whole installation, however often it is looked at meanwhile. */
  readonly timeoutSeconds: number;
}

/** What an environment is made of. Its URLs may hold credentials, which are not part of its name. */
export interface EnvironmentWish extends Omit<VllmEnvironment, "kind"> {
  /** Hash of the declaration, 16 hex digits. */
  readonly name: string;
}

/**
 * Makes a checkpoint complete and right: downloads what is missing, looks at what is there, fetches again what is broken. Quick where
 * nothing is to be done. Of a folder on the host it only looks.
 */
export interface FetchStep {
  readonly kind: "fetch";
  /** What the query asks for as its executable: the hub's client is looked for beside it first. */
  readonly executable: string | null;
  readonly checkpoint: HubCheckpoint | LocalCheckpoint;
}

export interface HubCheckpoint extends Omit<HubModel, "kind"> {
  /** Hash of the declaration, 16 hex digits: <stateRoot>/checkpoints/<key>.json tells what it came to. */
  readonly key: string;
  /** 40 hex digits that it was resolved to before; null: not yet, or declared anew. */
  readonly resolved: string | null;
  /** engine.loadFormat; "auto:mistral": vLLM's own choice with a config of Mistral's; null: vLLM's own default. */
  readonly loadFormat: string | null;
  /** Without a byte for so long a download is begun anew. */
  readonly stallSeconds: number;
}

export interface LocalCheckpoint {
  readonly key: null;
  readonly path: string;
  readonly verify: VerifyDepth;
  readonly loadFormat: string | null;
}

/** Builds <stateRoot>/overlays/<name>: absolute symlinks to every entry of the checkpoint, and these files for real. */
export interface OverlayStep {
  readonly kind: "overlay";
  /** Content hash, hex, no dot. */
  readonly name: string;
  readonly checkpointPath: string;
  /** File name -> whole text. */
  readonly files: Readonly<Record<string, string>>;
  /** What was changed from what; kept as overlays/<name>.json beside the folder. */
  readonly record: JsonObject;
}

/** Ends whatever is left of this server, proves it, frees its shared memory and temp files. */
export interface StopStep {
  readonly kind: "stop";
  /** How long a ready server may drain: vLLM's own shutdown timeout. */
  readonly drainSeconds: number;
  /** After this the whole session is killed. */
  readonly killAfterSeconds: number;
  /** How long GPU memory may take to come back to its baseline. */
  readonly gpuFreeSeconds: number;
}

export interface StartStep {
  readonly kind: "start";
  readonly launch: Launch;
}

/** Everything that the server's manager needs; non-secret parts are kept as launch.json, the secret ones as secrets.json (0600). */
export interface Launch {
  /** Hash of the declaration; vLLM answers it as system_fingerprint where the version can. */
  readonly fingerprint: string;
  /** Absolute path of the vllm executable. */
  readonly executable: string;
  /** Of the executable, as seen before the start; null: it does not say. */
  readonly vllmVersion: string | null;
  /** What led to it: the executable of the query, for a refresh to be told of it before it asks. */
  readonly executableWish: string | null;
  /** Likewise the checkpointPath of the query. */
  readonly checkpointWish: string;
  /** What `vllm serve` gets as its model: the overlay or the checkpoint itself. */
  readonly modelPath: string;
  /** Text of the file for `--config`. */
  readonly configYaml: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly secretEnvironment: Readonly<Record<string, string>>;
  readonly gpus: LaunchGpus;
  /** How vLLM is told its GPUs: before --device-ids (0.24) it ends at a UUID. */
  readonly gpuNames: "uuid" | "index";
  readonly listen: { readonly address: string; readonly port: number };
  readonly servedModelNames: readonly string[];
  /** The wish; the agent decides what "auto" is before anything is stopped, and records both. */
  readonly manager: ManagerWish;
  readonly sudo: HostSpec["sudo"];
  readonly startOnBoot: boolean;
  readonly restart: RestartPolicy;
  readonly logs: LogPolicy;
  /** vLLM's shutdown timeout, seconds; the manager uses it when it is told to stop. */
  readonly drainSeconds: number;
}

export type LaunchGpus =
  | { readonly kind: "none" }
  | { readonly kind: "count"; readonly count: number; readonly prefer: readonly string[] }
  | { readonly kind: "list"; readonly ids: readonly (number | string)[] };

/** Watches the start that is under way until it answers a real request, dies, prints a fatal line, hangs or runs out of time. */
export interface WaitStep {
  readonly kind: "wait";
  readonly probe: ProbeKind;
  readonly apiKey: string | null;
  /** null: this vLLM cannot answer a fingerprint of ours. */
  readonly fingerprint: string | null;
  readonly timeoutSeconds: number;
  /** Python regular expressions; a log line that matches one ends the wait as "fatal". */
  readonly fatalPatterns: readonly string[];
  /** Without a sign of life; 0: without limit. */
  readonly stallSeconds: number;
  /** Python regular expressions; a log line that matches one is no sign of life. */
  readonly idlePatterns: readonly string[];
  /** Types that the KV cache may turn out to have, the wished one first; null: any. */
  readonly kvCacheDtypes: readonly string[] | null;
  /** The type that attention layers take where vLLM says "auto"; null: the model's own. */
  readonly kvCacheAuto: string | null;
}

/**
 * Starts what was last proven ready again, as it was, and waits for it: the host keeps what that takes, secrets too, until another launch
 * has been ready. Answered by the results of a start and of a wait.
 */
export interface ReturnStep {
  readonly kind: "return";
  readonly timeoutSeconds: number;
  readonly fatalPatterns: readonly string[];
  readonly stallSeconds: number;
  readonly idlePatterns: readonly string[];
}

/** All that a running server takes over without a restart. Puts back an edited or disabled unit and an edited config file too. */
export interface PolicyStep {
  readonly kind: "policy";
  readonly restart: RestartPolicy;
  readonly startOnBoot: boolean;
  readonly logs: LogPolicy;
  /** As in the launch: the file may have been edited since. */
  readonly configYaml: string;
}

/** Marks the owner record confirmed, or takes that back. */
export interface ConfirmStep {
  readonly kind: "confirm";
  readonly confirmed: boolean;
}

/** Removes the state folder, and an overlay and an environment nobody else uses. Refuses while a process of the server lives. */
export interface ForgetStep {
  readonly kind: "forget";
  /** Whether the checkpoint's files go too, those that no other revision, overlay or server uses. */
  readonly purgeModel: boolean;
}
