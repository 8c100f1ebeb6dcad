import type { Input } from "@pulumi/pulumi";
import type { EngineArgs, InputObject } from "./engine-args";
import type { HostArgs } from "./host-args";

/**
 * What a vLLM server should be. Every input may be an output of another resource. Problems are reported all at once, each
 * at its property path, before anything is done. "Restart" below: the server stops, frees its GPUs and starts again.
 */
export interface VllmServerArgs {
  /**
   * Where it runs: "gpu1", "ubuntu@gpu1", an alias of ~/.ssh/config, or all of it as an object. Required.
   * Another machine: replacement, the new one first. Other credentials: no restart.
   */
  readonly host: Input<string | HostArgs>;
  /**
   * What is served: "org/name@<40 hex>" of a hub ("org/name@branch", "org/name" too), or all of it as an object, or a folder on the host as
   * { path }. Required. Downloaded, where it is not there, while the old server still serves. Change: restart.
   */
  readonly model: Input<string | ModelArgs>;
  /**
   * Type of the KV cache, by vLLM's names: "auto", "bfloat16", "float16", "fp8", "fp8_e4m3", ... Default "auto": what the checkpoint asks for.
   * A 16-bit type also takes the request for another one out of the checkpoint's config (in a copy, never in the checkpoint). Change: restart.
   */
  readonly kvCacheDtype?: Input<string> | undefined;
  /**
   * Merged into the checkpoint's quantization config wherever it stands (config.json, hf_quant_config.json); null sets null,
   * nothing is deleted. Default {}. Applied to a copy of the file; the checkpoint itself is never written. Change: restart.
   */
  readonly quantizationConfigOverrides?: InputObject | undefined;
  /** The same for the rest of config.json. Default {}. Change: restart. */
  readonly configOverrides?: InputObject | undefined;
  /**
   * Which vLLM: one to be installed ({ version, ... }), or one that is there ({ executable }). Default: the `vllm` of the user's login
   * environment on the host. Change: a new one is installed beside the old one while that still serves; then a restart.
   */
  readonly vllm?: Input<VllmArgs> | undefined;
  /** vLLM's flags that nearly everybody uses. Default {}. Change: restart. */
  readonly engine?: Input<EngineArgs> | undefined;
  /**
   * Any other flag: vLLM's long name without the dashes in front, e.g. "stream-interval": 4. true = `--name`, false = `--no-name`,
   * a list = several words, an object = JSON. A name that the installed vLLM does not know is an error before anything
   * is stopped. Default {}. Change: restart.
   */
  readonly extraArgs?: InputObject | undefined;
  /**
   * Variables of the server's process, beside what its user's login says about the machine: PATH, locale, LD_LIBRARY_PATH, CUDA_HOME,
   * where caches lie, proxies. Anything else of a profile (VLLM_*, PYTHONPATH, tokens) has to stand here. Always a secret, all of them: the provider is not told which ones are. Default {}.
   * Change: restart.
   */
  readonly environment?: Input<{ readonly [name: string]: Input<string> }> | undefined;
  /**
   * How many GPUs, or which: indexes or UUIDs. Default: as many as the parallel sizes need. Picked from GPUs that are
   * really free, recorded by UUID, kept across restarts. Change: restart.
   */
  readonly gpus?: Input<number | readonly Input<number | string>[]> | undefined;
  /** Where it listens. Default 127.0.0.1, port 8000. Change: restart. */
  readonly listen?: Input<ListenArgs> | undefined;
  /** Says in words that an address other than loopback may go without apiKey. Default false. Change: no restart. */
  readonly allowUnauthenticated?: Input<boolean> | undefined;
  /** The key that requests must carry. Always a secret: only ever in a file that nobody else can read, and the process's environment. Default: none. Change: restart. */
  readonly apiKey?: Input<string> | undefined;
  /** How the process is looked after. Change: no restart, but for service.manager. */
  readonly service?: Input<ServiceArgs> | undefined;
  /** How "ready" is proven. Change: nothing until the next start. */
  readonly readiness?: Input<ReadinessArgs> | undefined;
  /** How long each phase may take. Change: nothing until the next operation. */
  readonly timeouts?: Input<TimeoutArgs> | undefined;
  /** How an update goes about it. Change: nothing until the next update. */
  readonly update?: Input<UpdateArgs> | undefined;
  /** What the end of the resource means. Change: nothing on the host, which need not answer for it. */
  readonly onDelete?: Input<OnDeleteArgs> | undefined;
}

/** Either `path`, or `repo` and what belongs to it. */
export interface ModelArgs {
  /** Folder of a checkpoint on the host: absolute, or below the user's home with "~/". It is never written to. Change: restart. */
  readonly path?: Input<string> | undefined;
  /** Repository of a hub, "org/name". Change: restart. */
  readonly repo?: Input<string> | undefined;
  /**
   * 40 hex digits, a branch or a tag. A branch or tag is resolved once, told as output `modelRevision`, and stays there until `model`
   * changes. Default: the repository's default branch. Change: restart; none to the very commit that is served already.
   */
  readonly revision?: Input<string> | undefined;
  /**
   * Patterns of names in the repository, such as "*.safetensors"; "*" crosses "/". Default: what vLLM loads, without the duplicates beside
   * it (original/, *.pth, *.gguf, *.onnx, consolidated copies). Their order decides nothing. Change: restart, also where the same files are
   * chosen: a preview cannot know which the hub has, and a server is told apart by what it was started from.
   */
  readonly include?: Input<readonly Input<string>[]> | undefined;
  /** Patterns of names that are left out. Default: none beside those of `include`. Change: restart, as with `include`. */
  readonly exclude?: Input<readonly Input<string>[]> | undefined;
  /** For gated and private repositories. Always a secret; never on the host's disk. Default: the host's own (HF_TOKEN, `hf auth login`). Change: no restart. */
  readonly token?: Input<string> | undefined;
  /** Address of a hub or a mirror. Credentials in it are a secret. Default: HF_ENDPOINT on the host. Change: restart; none while `revision` is a commit. */
  readonly endpoint?: Input<string> | undefined;
  /** Folder on the host for downloads, shared by all who name it. Default: the hub cache of the host's user (HF_HUB_CACHE, HF_HOME). Change: restart. */
  readonly cacheDir?: Input<string> | undefined;
  /**
   * How closely files are looked at before a start: "headers" (all there, sizes right, headers of safetensors whole) or "full" (every byte
   * hashed; minutes for hundreds of GB, once). What is broken is fetched again, where it comes from a hub. Of a folder of your own the hashes
   * are known where the hub's client has filled it (a snapshot of its cache, `hf download --local-dir`); how many files have none is told.
   * Default "headers". Change: no restart.
   */
  readonly verify?: Input<"headers" | "full"> | undefined;
}

/** Either `executable`, or any of the others: then an environment of its own is built on the host, shared by all who declare the same. */
export interface VllmArgs {
  /** Path of a `vllm` command on the host, which is never changed. Default: found in the login environment. Change: restart. */
  readonly executable?: Input<string> | undefined;
  /** One exact version, such as "0.33.0". Default: the newest at the time of the installation, which then stays. Change: restart. */
  readonly version?: Input<string> | undefined;
  /** Requirements beside vLLM, such as "flashinfer-python==0.4.1". Default []. Change: restart. */
  readonly packages?: Input<readonly Input<string>[]> | undefined;
  /** Package index instead of the host's own. Credentials in it are a secret. Default: as the host is configured. Change: restart; none for other credentials. */
  readonly indexUrl?: Input<string> | undefined;
  /** Further indexes. Default []. Change: as of indexUrl. */
  readonly extraIndexUrls?: Input<readonly Input<string>[]> | undefined;
  /** Version of Python, such as "3.12", or the path of one on the host. Default: what uv picks. Change: restart. */
  readonly python?: Input<string> | undefined;
  /**
   * Which PyTorch, by uv's names: "auto", "cpu", "cu128", ... It comes from PyTorch's own index then, which the host has to reach. Default:
   * what vLLM's own requirements say, from the same index as everything. Change: restart.
   */
  readonly torchBackend?: Input<string> | undefined;
}

/** Address and port of the API. Change: restart. */
export interface ListenArgs {
  /** Address to listen on. Any but loopback needs apiKey or allowUnauthenticated. Default "127.0.0.1". */
  readonly address?: Input<string> | undefined;
  /** TCP port. Default 8000. */
  readonly port?: Input<number> | undefined;
}

/** Who looks after the process, and how. */
export interface ServiceArgs {
  /**
   * Who looks after the process: "systemd" (a system unit; needs root or sudo without a password), "systemd-user" (a unit of the user;
   * needs lingering), "process" (a small supervisor of the provider's own, for hosts without systemd), or "auto": the one it has while
   * that works, else the first of these that does; the output `manager` tells which. Default "auto". Change: restart, where it
   * is another one than the output's.
   */
  readonly manager?: Input<"auto" | "systemd" | "systemd-user" | "process"> | undefined;
  /** Whether the host starts it at boot. Where it cannot, `up` says so, and the output `startsOnBoot` is false. Default true. Change: no restart. */
  readonly startOnBoot?: Input<boolean> | undefined;
  /** Starting again by itself when the process dies. */
  readonly restart?: Input<RestartArgs> | undefined;
  /** What stays of what vLLM prints. Change: no restart. */
  readonly logs?: Input<LogArgs> | undefined;
}

/** How much stays of the logs of a server. */
export interface LogArgs {
  /** Starts whose logs stay on the host, each with a log of its own; from 1 to 1000. Default 5. */
  readonly keep?: Input<number> | undefined;
  /** Bytes that one log may have, also while it is written; at least 1 MiB = 1048576. Default 100 MiB = 104857600. */
  readonly maxBytes?: Input<number> | undefined;
}

/** Limits of automatic starts; past them the server is crash-looping and left alone. Change: no restart. */
export interface RestartArgs {
  /**
   * Automatic starts allowed within withinSeconds, and, however long each takes, in a row without having served in between;
   * 0 = never. Default 5.
   */
  readonly max?: Input<number> | undefined;
  /** Seconds. Default 600. */
  readonly withinSeconds?: Input<number> | undefined;
  /** Seconds between death and the next start. Default 5. */
  readonly delaySeconds?: Input<number> | undefined;
}

/** How a start proves that it serves. Change: nothing until the next start. */
export interface ReadinessArgs {
  /** The request that must be answered: "auto" (by what the server can do), "completion", "chat", "embedding", "health". Default "auto". */
  readonly probe?: Input<"auto" | "completion" | "chat" | "embedding" | "health"> | undefined;
}

/** Seconds that each phase may take. Change: nothing until the next operation. */
export interface TimeoutArgs {
  /** Seconds until a connection stands, over all tries. Default 30. */
  readonly connect?: Input<number> | undefined;
  /** Seconds for the whole installation of vLLM. Default 3600. */
  readonly install?: Input<number> | undefined;
  /** Seconds without a byte before a download is begun anew; there is no limit in total. Default 120. */
  readonly download?: Input<number> | undefined;
  /** Seconds from start to ready. Default 3600. */
  readonly ready?: Input<number> | undefined;
  /**
   * Seconds without any sign of life after which a start counts as hung and is ended: no line in its log, no data read or written, no new
   * memory, no processor time. Processor time alone counts for three times as long: what waits for another GPU can look busy for ever.
   * A start that is slow and alive is never ended by it, `ready` does that. 0: never; with Ray as executor never too, its processes cannot be seen. Default 900.
   */
  readonly stall?: Input<number> | undefined;
  /** Seconds that running requests get to finish before the server is ended. Default 120. */
  readonly stop?: Input<number> | undefined;
}

/** What an update does beside what was declared. Change: nothing until the next update. */
export interface UpdateArgs {
  /**
   * Whether what was ready last is started again when what was declared instead does not get ready. `up` fails in either case, and the next one
   * tries the new declaration again; meanwhile the earlier one serves, with its own vLLM, model, flags and keys. false: the failed
   * server stays stopped. Default true.
   */
  readonly returnToLastGood?: Input<boolean> | undefined;
}

/** What is done, and what is left, when the resource is deleted. Change: nothing on the host, which need not answer for it. */
export interface OnDeleteArgs {
  /**
   * When the host cannot be reached: "fail" keeps the resource and tells why; "forget" deletes it from the state and warns of what may still
   * run there. Only where the machine does not answer: a changed host key or a refused login fails in any case. Default "fail".
   */
  readonly unreachableHost?: Input<"fail" | "forget"> | undefined;
  /**
   * The downloaded checkpoint: "keep", or "purge" to remove those of its files that no other revision, overlay or server of the host uses.
   * A folder of your own (model.path) is never removed. Default "keep".
   */
  readonly model?: Input<"keep" | "purge"> | undefined;
}
