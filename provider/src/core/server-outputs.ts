/**
 * Output properties of the resource beside its inputs. null: not known (yet).
 * In a file of its own because users compile against it: what else belongs to outputs would bring zod along.
 */
export interface ServerOutputs {
  readonly url: string;
  readonly baseUrl: string;
  readonly servedModelName: string;
  readonly tunnelCommand: string | null;
  /** Commit of a model that comes from a hub, 40 hex digits; it stays until the input says another. */
  readonly modelRevision: string | null;
  /** Bytes of the checkpoint's weights on the host. */
  readonly modelBytes: number | null;
  /** What vLLM serves: the overlay where the config is patched, else the checkpoint. */
  readonly modelPath: string | null;
  /** Hash of the declaration; the server answers it as system_fingerprint. */
  readonly configHash: string | null;
  readonly vllmVersion: string | null;
  /** What the running server settled on; kvCacheDtype is the wish. */
  readonly resolvedKvCacheDtype: string | null;
  readonly maxModelLen: number | null;
  readonly gpuUuids: readonly string[];
  readonly logPath: string | null;
  readonly generation: number;
  /** Automatic restarts since it was last started by an `up`. */
  readonly restarts: number;
  readonly status: string;
  /** Why the host is not as declared, in words; [] when it is. */
  readonly drift: readonly string[];
  readonly startedAt: string | null;
  readonly startDurationSeconds: number | null;
  readonly pid: number | null;
  readonly bootId: string | null;
  /** Who looks after the process: "systemd", "systemd-user" or "process"; service.manager is the wish. */
  readonly manager: string | null;
  /** Its systemd unit; null where another manager looks after it. */
  readonly serviceName: string | null;
  /** Whether the host starts it at boot, as last seen; service.startOnBoot is the wish. */
  readonly startsOnBoot: boolean;
}
