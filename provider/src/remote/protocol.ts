import { z } from "zod";
import { activitySchema } from "../core/activity";
import { managerSchema, observationSchema, readyRecordSchema } from "../core/observed";
import type { Step } from "../core/step";
import { stuckProcessSchema } from "../core/stuck-process";

/** Requests and replies of the host agent. One request a run, on stdin; NDJSON back: events, then one result or error. */
export const PROTOCOL_VERSION = 1;

export interface ServerQuery {
  /** null: look for a record by URN (create does not know its id yet). */
  readonly serverId: string | null;
  readonly urn: string;
  /** undefined: do not look; null: find `vllm` in the login environment; a path; "environments/<name>": one of ours. */
  readonly executable?: string | null | undefined;
  /** undefined: do not look at a checkpoint. A path, or "checkpoints/<key>": one that was or is to be downloaded. */
  readonly checkpointPath?: string | undefined;
  readonly listen: { readonly address: string; readonly port: number };
  /** Secret environment to compare with the one the server was started with. */
  readonly secretEnvironment: Readonly<Record<string, string>>;
  /** Whether a server that looks ready is asked for one token. With `others` in the request every one is. */
  readonly asksToken?: boolean | undefined;
  /** Whether it is asked for a start: then all is looked at that can stand in its way. */
  readonly forStart?: boolean | undefined;
}

export interface ObserveRequest {
  readonly op: "observe";
  readonly servers: readonly ServerQuery[];
  /** What a refresh has no use for too: the condition of GPUs and the kernel's log of them. */
  readonly forStart?: boolean | undefined;
  /** For a refresh: tell of all servers of the queries' stacks on this host. */
  readonly others?: OthersWish | undefined;
}

export interface OthersWish {
  /** Hex; random for each request. What the secrets of the others are hashed with. */
  readonly salt: string;
}

export interface ApplyRequest {
  readonly op: "apply";
  readonly serverId: string;
  readonly urn: string;
  /** user@machine, project/stack: shown to whoever finds the lock taken. */
  readonly client: string;
  readonly lockWaitSeconds: number;
  /** What the plan was made for; under the lock the agent compares and answers CHANGED_MEANWHILE when it differs. */
  readonly expect: { readonly generation: number; readonly leaderPid: number | null };
  readonly steps: readonly Step[];
}

/** Long flags the installed version knows, from `vllm serve --help=all` or `--help`, asked once per executable and version and cached on the host. */
export interface FlagsRequest {
  readonly op: "flags";
  readonly executable: string;
  /** The user's variables: some of them may be what lets this vLLM start at all. Secret. */
  readonly environment: Readonly<Record<string, string>>;
}

/** For a person who asks what a host is: hostSurveySchema comes back. */
export interface SurveyRequest {
  readonly op: "survey";
}

/** The end of the log of a start, then what is printed. */
export interface LogsRequest {
  readonly op: "logs";
  readonly serverId: string;
  /** So many of its end. */
  readonly lines: number;
  /** Goes on, over restarts, until the connection ends. */
  readonly follow: boolean;
  /** Of that start alone; null: of the newest one, and with `follow` of those after it. */
  readonly generation: number | null;
}

export type AgentRequest = (ObserveRequest | ApplyRequest | FlagsRequest | SurveyRequest | LogsRequest) & {
  readonly protocol: typeof PROTOCOL_VERSION;
  /** The agent ends itself after this. */
  readonly deadlineSeconds: number;
};

/** What the kernel's log tells of this start: kills for want of memory, faults of its GPUs. Not there: it may not be read, or may tell of this start under another number. */
const kernelLinesSchema = z.array(z.string()).optional();

export const waitResultSchema = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("ready"), ready: readyRecordSchema }),
  z.object({
    outcome: z.literal("exited"),
    code: z.number().nullable(),
    signal: z.number().nullable(),
    kernel: kernelLinesSchema,
  }),
  z.object({ outcome: z.literal("fatal"), line: z.string(), kernel: kernelLinesSchema }),
  z.object({
    outcome: z.literal("timeout"),
    waitedSeconds: z.number(),
    lastLine: z.string().nullable(),
    /** "POST /v1/completions": it listens, and this is what it did not answer. null: it did not listen. */
    unanswered: z.string().nullable(),
    activity: activitySchema,
    kernel: kernelLinesSchema,
  }),
  /** No sign of life, or processor time as the only one, for as long as the step says. */
  z.object({
    outcome: z.literal("hung"),
    silentSeconds: z.number(),
    isSpinning: z.boolean(),
    lastLine: z.string().nullable(),
    unanswered: z.string().nullable(),
    processes: z.array(stuckProcessSchema),
    kernel: kernelLinesSchema,
  }),
  /** The log says ready but somebody else listens on the port. */
  z.object({
    outcome: z.literal("port-lost"),
    winnerPid: z.number().nullable(),
    winnerCommand: z.string().nullable(),
    winnerUser: z.string().nullable(),
  }),
  /** It answers, but not what was declared: wrong name, wrong root, wrong fingerprint, or the probe was refused. */
  z.object({ outcome: z.literal("wrong-answer"), detail: z.string() }),
  /** It answers, with another KV cache than the wished one, and said nothing of it before. */
  z.object({
    outcome: z.literal("kv-cache-dtype-lost"),
    wanted: z.string(),
    dtype: z.string(),
    evidence: z.string(),
    /** Where that was told. */
    place: z.string(),
  }),
]);
export type WaitResult = z.infer<typeof waitResultSchema>;

const stopResultSchema = z.object({
  /** Titles of what was still alive when the stop began. */
  ended: z.array(z.object({ pid: z.number(), command: z.string() })),
  /** Of these, processes whose parent was already dead. */
  orphans: z.number(),
  removedShm: z.array(z.string()),
  /** MiB in use per UUID after the stop; {} without GPUs. */
  gpuMemoryMib: z.record(z.string(), z.number()),
  seconds: z.number(),
});

export type StopResult = z.infer<typeof stopResultSchema>;

const startResultSchema = z.object({
  generation: z.number(),
  pid: z.number(),
  gpuUuids: z.array(z.string()),
  logPath: z.string(),
  manager: managerSchema,
  /** For the user: why no better manager was taken, what the host does not allow. */
  notes: z.array(z.string()),
});

const installResultSchema = z.object({
  executable: z.string(),
  version: z.string().nullable(),
  /** false: it was complete already. */
  built: z.boolean(),
  seconds: z.number(),
});

const fetchResultSchema = z.object({
  /** 40 hex digits; null: a folder on the host. */
  revision: z.string().nullable(),
  path: z.string(),
  files: z.number(),
  bytes: z.number(),
  /** Of these, what came over the network. */
  fetchedBytes: z.number(),
  seconds: z.number(),
  /** Files that were there and not right. */
  refetched: z.array(z.string()),
  /** Files whose every byte was compared with the hub's hash; 0 unless `verify` is "full". */
  hashed: z.number(),
  /** Files for which that was wanted and no hash is known. */
  unhashed: z.array(z.string()),
});

const forgetResultSchema = z.object({
  freedBytes: z.number(),
  /** What stays of the checkpoint, and why. */
  kept: z.array(z.string()),
});

const stepResultSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("claim") }),
  z.object({ kind: z.literal("install"), install: installResultSchema }),
  z.object({ kind: z.literal("fetch"), fetch: fetchResultSchema }),
  z.object({ kind: z.literal("overlay"), path: z.string(), built: z.boolean() }),
  z.object({ kind: z.literal("stop"), stop: stopResultSchema }),
  z.object({ kind: z.literal("start"), start: startResultSchema }),
  z.object({ kind: z.literal("wait"), wait: waitResultSchema }),
  z.object({ kind: z.literal("policy") }),
  z.object({ kind: z.literal("confirm") }),
  z.object({
    kind: z.literal("forget"),
    forget: forgetResultSchema.default({ freedBytes: 0, kept: [] }),
  }),
]);

/** A wait that did not end "ready" ends the request: its result is the last one. */
export const applyResultSchema = z.object({ steps: z.array(stepResultSchema) });
export type ApplyResult = z.infer<typeof applyResultSchema>;

export const flagsResultSchema = z.object({ version: z.string().nullable(), flags: z.array(z.string()) });
export type FlagsResult = z.infer<typeof flagsResultSchema>;

const agentErrorSchema = z.object({
  /** An ErrorCode of core/errors.ts. */
  code: z.string(),
  summary: z.string(),
  evidence: z.string().nullish(),
  change: z.string().nullish(),
  retryable: z.boolean(),
});

const progressSchema = z.object({
  event: z.literal("progress"),
  phase: z.enum(["install", "download", "verify"]),
  /** One short line: what the numbers do not tell. */
  text: z.string(),
  /** Files or packages. */
  done: z.number().nullable(),
  total: z.number().nullable(),
  bytesDone: z.number().nullable(),
  bytesTotal: z.number().nullable(),
  bytesPerSecond: z.number().nullable(),
  secondsLeft: z.number().nullable(),
});

export const agentEventSchema = z.discriminatedUnion("event", [
  z.object({ event: z.literal("hello"), protocol: z.number(), python: z.string() }),
  /** Every few seconds, so that a dead connection is noticed on both ends. */
  z.object({ event: z.literal("alive") }),
  z.object({ event: z.literal("step"), kind: z.string(), state: z.enum(["begin", "end"]) }),
  /** Waiting for somebody: a lock, GPU memory, a draining client. */
  z.object({ event: z.literal("waiting"), reason: z.string() }),
  /** Of a start that has printed nothing for a while: whether it is alive. At most one in 15 s. */
  z.object({ event: z.literal("quiet"), activity: activitySchema }),
  /** For the user to keep, before anything is stopped or started: what the host lacks. */
  z.object({ event: z.literal("note"), text: z.string() }),
  /** How far long work is; at most one a second. */
  progressSchema,
  /** New lines of the log of this start, in order, as they stand; `first` counts from 1. */
  z.object({ event: z.literal("log"), first: z.number(), lines: z.array(z.string()) }),
  /** Of `logs`: whose lines come now. */
  z.object({ event: z.literal("generation"), generation: z.number() }),
  z.object({ event: z.literal("result"), result: z.unknown() }),
  z.object({ event: z.literal("error"), error: agentErrorSchema }),
]);
export type AgentEvent = z.infer<typeof agentEventSchema>;

export const logsResultSchema = z.object({ generation: z.number() });

const { server, executable, checkpoint, port } = observationSchema.shape.servers.element.shape;

/** Servers that were not asked for, and all that was looked at beside servers; what could not be looked at is missing. */
const othersSchema = z.object({
  servers: z.array(
    z.object({
      serverId: z.string(),
      /** Of the secrets that it was started with (secret-hash.ts); what it tells of them itself is void. null: not started. */
      secretHashes: z.record(z.string(), z.string()).nullable(),
      server,
    }),
  ),
  executables: z.array(z.object({ wish: z.string().nullable(), seen: executable.unwrap() })),
  checkpoints: z.array(checkpoint.unwrap()),
  ports: z.array(z.object({ address: z.string(), port: z.number(), seen: port })),
});
export type Others = z.infer<typeof othersSchema>;

export const observeResultSchema = observationSchema.extend({ others: othersSchema.optional() });
