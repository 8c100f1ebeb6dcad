import { z } from "zod";
import { differencesSchema, NO_DIFFERENCES } from "./observed-differences";
import { gpuSchema } from "./observed-gpu";
import { MANAGERS } from "./spec";
import { stuckProcessSchema } from "./stuck-process";

/** What the agent saw on the host. Schemas, because it crosses an edge; parsed once in remote/, trusted afterwards. */

export const ownerRecordSchema = z.object({
  serverId: z.string(),
  urn: z.string(),
  project: z.string(),
  stack: z.string(),
  name: z.string(),
  /** user@machine that ran the CLI. */
  createdBy: z.string(),
  /** ISO 8601, UTC. */
  createdAt: z.string(),
  confirmed: z.boolean(),
  /** Made anew by each create: tells a resource from the older one whose server it took over. null: of an earlier version. */
  claimId: z.string().nullable(),
});
export type OwnerRecord = z.infer<typeof ownerRecordSchema>;

const processSchema = z.object({
  pid: z.number(),
  startTicks: z.number(),
  sessionId: z.number(),
  uid: z.number(),
  /** Letter of /proc/PID/stat: R, S, D, Z, ... */
  state: z.string(),
  command: z.string(),
});

export type GpuSeen = z.infer<typeof gpuSchema>;

export const managerSchema = z.enum(MANAGERS);

const exitSchema = z.object({
  generation: z.number(),
  code: z.number().nullable(),
  signal: z.number().nullable(),
  /** ISO 8601, UTC. */
  at: z.string(),
});
export type ExitSeen = z.infer<typeof exitSchema>;

/**
 * Beginning and end of a log, secrets of the server replaced; `first` is the number of a stretch's first line in the log as it was
 * written, from 1.
 */
const logExcerptSchema = z.array(z.object({ first: z.number(), lines: z.array(z.string()) }));
export type LogExcerpt = z.infer<typeof logExcerptSchema>;

/** A failure, and what its log says; null: the log is not there any more. */
const crashSchema = z.object({ exit: exitSchema, log: logExcerptSchema.nullable() });
export type CrashSeen = z.infer<typeof crashSchema>;

/** What the wait step proved, kept as ready.json. */
export const readyRecordSchema = z.object({
  generation: z.number(),
  readyAt: z.string(),
  startSeconds: z.number(),
  modelNames: z.array(z.string()),
  modelRoot: z.string().nullable(),
  maxModelLen: z.number().nullable(),
  /** vllm:cache_config_info of /metrics: cache_dtype, kv_cache_size_tokens, ... as text; {} where there is none. */
  cacheConfig: z.record(z.string(), z.string()),
  /** What the KV cache is kept in, by all that the server tells; null: it does not, or an earlier version of this did not ask. */
  kvCacheDtype: z.string().nullable().default(null),
  /** The probe that was answered: "completion", "embedding", ... */
  probe: z.string(),
});
export type ReadyRecord = z.infer<typeof readyRecordSchema>;

export const serverStatusSchema = z.enum([
  "absent", // no record on this host
  "stopped", // a record, nothing alive or a stop of it begun, stopped on purpose or never started
  "starting", // its leader lives, not yet proven ready
  "ready", // its leader lives, it or an earlier one of the same launch was proven ready, its own socket listens and /health is 200
  "hung", // was proven ready, lives and listens, was asked for one token and gave none, and worked for nobody meanwhile
  "unresponsive", // was proven ready, lives, but does not listen, or its engine is dead, or it answers nothing, or refuses us
  "restarting", // the supervisor waits before the next automatic start
  "crashed", // died, and is not started again: restarts are off, or it died for the first time in long; lastExit tells how
  "crash-looping", // died again after each automatic restart, given up at the limit; crashes tells how
  "orphaned", // supervisor gone, processes of its session still alive
  "rebooted", // recorded under another boot id, nothing alive
]);
export type ServerStatus = z.infer<typeof serverStatusSchema>;

export const serverSeenSchema = z.object({
  status: serverStatusSchema,
  owner: ownerRecordSchema.nullable(),
  /** Starts counted so far, automatic ones too; 0 = never started. Log of the newest: logs/<generation>.log */
  generation: z.number(),
  /** Of launch.json: what was last started. */
  launch: z
    .object({
      fingerprint: z.string(),
      executable: z.string(),
      modelPath: z.string(),
      listen: z.object({ address: z.string(), port: z.number() }),
      servedModelNames: z.array(z.string()),
      restart: z.object({ max: z.number(), withinSeconds: z.number(), delaySeconds: z.number() }),
      gpuUuids: z.array(z.string()),
      /** Earlier versions knew the supervisor alone, and recorded none. */
      manager: managerSchema.default("process"),
      managerWish: z.enum(["auto", ...MANAGERS]).default("auto"),
      /** null: of an earlier version, which knew neither. */
      startOnBoot: z.boolean().nullable().default(null),
      logs: z.object({ keep: z.number(), maxBytes: z.number() }).nullable().default(null),
      /** Of its executable when it was started; null: not told then. */
      vllmVersion: z.string().nullable().default(null),
    })
    .nullable(),
  /** What was last proven ready: what was last started where that was, else what a failed update has left. null: nothing ever was. */
  lastGood: z
    .object({ fingerprint: z.string(), vllmVersion: z.string().nullable().default(null) })
    .nullable()
    .default(null),
  /** Who looks after it; null: never started. */
  manager: managerSchema.nullable(),
  /** Its systemd unit; null where there is none. */
  unit: z.object({ name: z.string(), isEnabled: z.boolean(), isEdited: z.boolean() }).nullable(),
  leader: z.object({ pid: z.number(), startTicks: z.number() }).nullable(),
  /** ISO 8601, UTC, of the newest start. */
  startedAt: z.string().nullable(),
  /** Of its newest process, or, after automatic restarts, of an earlier one of the same launch. */
  ready: readyRecordSchema.nullable(),
  lastExit: exitSchema.nullable(),
  /** Of a server that died and has not answered since: the first and the last failure of its loop, or the only one; of one that came back by itself, for a refresh: the last. Else []. */
  crashes: z.array(crashSchema),
  /** Of a server that lives and does not serve ("hung", "unresponsive"); else null. */
  illness: z
    .object({
      /** Whether it listens on its port itself. */
      listens: z.boolean(),
      /** Status code of /health; null: not asked, or no answer. */
      health: z.number().nullable(),
      /** Of its newest start; null: it is not there. */
      log: logExcerptSchema.nullable(),
      /** What they did while it was asked. */
      processes: z.array(stuckProcessSchema).default([]),
    })
    .nullable()
    .default(null),
  /** Automatic ones since the last start that was asked for. */
  restarts: z.number(),
  processes: z.array(processSchema),
  /** Whether the secrets of the query equal those the server was started with; null: not started. */
  secretsMatch: z.boolean().nullable(),
  /** Whether launch.modelPath still resolves (no broken link); null: not started. */
  modelPathIntact: z.boolean().nullable(),
  differences: differencesSchema.default(NO_DIFFERENCES),
  stateFolder: z.string().nullable(),
  logPath: z.string().nullable(),
});
export type ServerSeen = z.infer<typeof serverSeenSchema>;

const executableSchema = z.union([
  z.object({ found: z.literal(true), path: z.string(), version: z.string().nullable() }),
  z.object({ found: z.literal(false), reason: z.string() }),
]);
export type ExecutableSeen = z.infer<typeof executableSchema>;

const checkpointSchema = z.union([
  z.object({
    found: z.literal(true),
    /** Absolute, ~ expanded; symlinks kept. */
    path: z.string(),
    /** Texts of config.json and hf_quant_config.json, null where missing. */
    files: z.record(z.string(), z.string().nullable()),
    weightFiles: z.number(),
    weightBytes: z.number(),
    /** Of the files that vLLM loads, where several formats lie side by side; null: not told. */
    loadedBytes: z.number().nullish(),
    /** Of a downloaded one: 40 hex digits. */
    revision: z.string().nullish(),
    /** "checkpoints/<key>", where it was looked for by that. */
    wish: z.string().optional(),
  }),
  z.object({
    found: z.literal(false),
    /** Of a downloaded one "org/name@revision": there is none. */
    path: z.string(),
    reason: z.string(),
    wish: z.string().optional(),
  }),
]);
export type CheckpointSeen = z.infer<typeof checkpointSchema>;

const portSchema = z.union([
  z.object({ free: z.literal(true) }),
  z.object({
    free: z.literal(false),
    /** null where the holder cannot be seen (another user's, or bound and not listening). */
    pid: z.number().nullable(),
    user: z.string().nullable(),
    command: z.string().nullable(),
    /** Registered server that holds it or has it reserved, else null. */
    serverId: z.string().nullable(),
  }),
]);
export type PortSeen = z.infer<typeof portSchema>;

const count = z.number().nullable().default(null);

/** null: not known. */
const hostFacts = {
  shmTotalBytes: count,
  /** Of a container: its limit. */
  memoryTotalBytes: count,
  memoryAvailableBytes: count,
  processors: count,
  /** Of a login; -1: without limit. */
  openFilesSoft: count,
  openFilesHard: count,
  lockedMemoryBytes: count,
  /** Since 1970, UTC, while it looked. */
  clockSeconds: count,
  /** Whether systemd keeps what the user runs after the last logout; null also without systemd. */
  lingers: z.boolean().nullable().default(null),
  /** Faults of GPUs that the kernel's log tells of since the boot; null also where it may not be read or was not asked for. */
  xids: z
    .array(z.object({ pciBusId: z.string(), xid: z.number(), line: z.string() }))
    .nullable()
    .default(null),
};

export const observationSchema = z.object({
  host: z.object({
    hostname: z.string(),
    user: z.string(),
    uid: z.number(),
    home: z.string(),
    bootId: z.string(),
    stateRoot: z.string(),
    pythonVersion: z.string(),
    diskFreeBytes: z.number(),
    shmFreeBytes: z.number(),
    ...hostFacts,
  }),
  /** null: no nvidia-smi on the host; `gpuError` says what went wrong where there is one. */
  gpus: z.array(gpuSchema).nullable(),
  gpuError: z.string().nullable(),
  /** In the order of the queries. */
  servers: z.array(
    z.object({
      server: serverSeenSchema,
      executable: executableSchema.nullable(),
      checkpoint: checkpointSchema.nullable(),
      port: portSchema,
    }),
  ),
});
export type Observation = z.infer<typeof observationSchema>;

/** A host without the servers on it. */
export type Machine = Pick<Observation, "host" | "gpus" | "gpuError">;

/** One server of an observation beside the facts of its host: what plan, outputs and drift work on. */
export interface Observed extends Readonly<Machine> {
  readonly server: ServerSeen;
  readonly executable: ExecutableSeen | null;
  readonly checkpoint: CheckpointSeen | null;
  readonly port: PortSeen;
}
