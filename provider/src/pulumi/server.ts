import { createUrn, dynamic, mergeOptions, type CustomResourceOptions, type Output } from "@pulumi/pulumi";
import type { ServerOutputs } from "../core/server-outputs";
import type { VllmServerArgs } from "./args";
import { blob } from "./blob";
import { secretMarkInputs } from "./secret-marks";
import { SECRET_OUTPUTS, withSecretInputs } from "./secret-inputs";

const MODULE = "vllm";
const TYPE = "VllmServer";

type OutputProperties = { readonly [Name in keyof ServerOutputs]: Output<ServerOutputs[Name]> };

/** Pulumi makes an output property of every name it is given; undefined = comes from the provider. */
const fromProvider: { readonly [Name in keyof ServerOutputs]: undefined } = {
  url: undefined,
  baseUrl: undefined,
  servedModelName: undefined,
  tunnelCommand: undefined,
  modelRevision: undefined,
  modelBytes: undefined,
  modelPath: undefined,
  configHash: undefined,
  vllmVersion: undefined,
  resolvedKvCacheDtype: undefined,
  maxModelLen: undefined,
  gpuUuids: undefined,
  logPath: undefined,
  generation: undefined,
  restarts: undefined,
  status: undefined,
  drift: undefined,
  startedAt: undefined,
  startDurationSeconds: undefined,
  pid: undefined,
  bootId: undefined,
  manager: undefined,
  serviceName: undefined,
  startsOnBoot: undefined,
};

/**
 * One vLLM server on one host: `up` makes it run and answer, `preview` says what would change, `refresh` looks at the host,
 * `destroy` ends it and proves that its GPUs are free.
 */
export class VllmServer extends dynamic.Resource implements OutputProperties {
  /** Root of the server as seen on its host, e.g. "http://127.0.0.1:8000". Known in preview. */
  declare readonly url: Output<string>;
  /** Base of the OpenAI API: url + "/v1". Known in preview. */
  declare readonly baseUrl: Output<string>;
  /** The name that requests use for the model. Known in preview. */
  declare readonly servedModelName: Output<string>;
  /** The ssh command that brings a loopback port to this machine; null where the server listens elsewhere. Known in preview. */
  declare readonly tunnelCommand: Output<string | null>;
  /**
   * Commit of a model that comes from a hub, 40 hex digits. A branch or tag is resolved once and stays there until `model` changes; a commit
   * that is declared is known in preview.
   */
  declare readonly modelRevision: Output<string | null>;
  /** Bytes of the checkpoint's weights on the host. */
  declare readonly modelBytes: Output<number | null>;
  /** Folder on the host that vLLM serves: the checkpoint, or the copy with changed config files. */
  declare readonly modelPath: Output<string | null>;
  /** Hash of the declaration. */
  declare readonly configHash: Output<string | null>;
  /** Version of the vLLM that was started last, else of the one that is installed for it, e.g. "0.32.0". */
  declare readonly vllmVersion: Output<string | null>;
  /** KV cache type the running server settled on; kvCacheDtype is the wish. */
  declare readonly resolvedKvCacheDtype: Output<string | null>;
  /** Tokens of prompt and answer together, as the running server says. */
  declare readonly maxModelLen: Output<number | null>;
  /** UUIDs of the GPUs that it was last started on; [] where no GPU is managed. */
  declare readonly gpuUuids: Output<readonly string[]>;
  /** Log of the newest start, on the host. */
  declare readonly logPath: Output<string | null>;
  /** Starts counted so far, automatic ones too. */
  declare readonly generation: Output<number>;
  /** Automatic restarts since it was last started by an `up`. */
  declare readonly restarts: Output<number>;
  /** "ready", "starting", "hung", "unresponsive", "crashed", "crash-looping", "rebooted", ... as last seen: docs/states.md. */
  declare readonly status: Output<string>;
  /** Why the host is not as declared, in words; [] when it is. */
  declare readonly drift: Output<readonly string[]>;
  /** ISO 8601, UTC. */
  declare readonly startedAt: Output<string | null>;
  /** Seconds from start to ready. */
  declare readonly startDurationSeconds: Output<number | null>;
  /** Process id of vLLM's API server on the host; null where none runs. */
  declare readonly pid: Output<number | null>;
  /** Boot of the host that pid belongs to. */
  declare readonly bootId: Output<string | null>;
  /** Who looks after the process: "systemd", "systemd-user" or "process"; service.manager is the wish. */
  declare readonly manager: Output<string | null>;
  /** Its systemd unit; null where another manager looks after it. */
  declare readonly serviceName: Output<string | null>;
  /** Whether the host starts it at boot, as last seen; service.startOnBoot is the wish. */
  declare readonly startsOnBoot: Output<boolean>;

  /** @param name unique in the stack; the server's folder and process on the host are named after it */
  constructor(name: string, args: VllmServerArgs, options?: CustomResourceOptions) {
    const marks = secretMarkInputs(args);
    const inputs = { ...fromProvider, ...withSecretInputs(args), ...marks, __urn: urnOf(name, options) };
    const own = mergeOptions(options, { additionalSecretOutputs: [...SECRET_OUTPUTS] });
    // Pulumi takes four stack traces for every property, for its report of leaked promises: 25 ms of each server.
    // Where the resource was declared it finds out with a limit of its own.
    const { stackTraceLimit } = Error;
    if (process.env["PULUMI_DEBUG_PROMISE_LEAKS"] === undefined) Error.stackTraceLimit = 0;
    try {
      super(blob, name, inputs, own, MODULE, TYPE);
    } catch (error) {
      Error.stackTraceLimit = stackTraceLimit;
      if (error instanceof Error) Error.captureStackTrace(error);
      throw error;
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }
}

/**
 * The URN as a promise, not as an output: an output would carry a dependency on the parent, and a child that depends
 * on its own component waits for its siblings, which wait for it.
 */
function urnOf(name: string, options: CustomResourceOptions | undefined): Promise<string> {
  const urn = createUrn(name, `pulumi-nodejs:dynamic/${MODULE}:${TYPE}`, options?.parent);
  return new Promise((resolve) => {
    urn.apply(resolve);
  });
}
