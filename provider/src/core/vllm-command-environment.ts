import type { Spec } from "./spec";

export interface ServerEnvironment {
  /** Kept beside the launch record, may be shown. */
  readonly environment: Readonly<Record<string, string>>;
  /** Only ever in a 0600 file and in the process. The user's own variables too: nobody can tell which of them are secret. */
  readonly secretEnvironment: Readonly<Record<string, string>>;
}

/** Variables that follow an input which may change without a restart; they do not count for the fingerprint. */
export const LIVE_VARIABLES: ReadonlySet<string> = new Set(["VLLM_ENGINE_READY_TIMEOUT_S"]);

/**
 * Variables of the vLLM process beside those that its supervisor adds (TMPDIR, marker, GPUs). User variables win.
 * @param facts.home absolute home folder of the host's user.
 */
export function serverEnvironment(spec: Spec, facts: { readonly home: string }): ServerEnvironment {
  return {
    environment: {
      NO_COLOR: "1",
      PYTHONUNBUFFERED: "1",
      // Progress bars as lines: each update ends with a line break. Source: tqdm 4.70.1, tried with vLLM 0.32.0.
      TQDM_BAR_FORMAT: "{desc}: {percentage:3.0f}% | {n_fmt}/{total_fmt}\n",
      TQDM_MININTERVAL: "2",
      VLLM_DISABLE_LOG_LOGO: "1",
      VLLM_NO_USAGE_STATS: "1",
      // vLLM's own limit (600 s by default) must not end a start that we still wait for.
      VLLM_ENGINE_READY_TIMEOUT_S: String(Math.ceil(spec.timeouts.ready)),
      // It would be below TMPDIR, which is emptied with every start.
      TORCHINDUCTOR_CACHE_DIR: `${facts.home}/.cache/pulumi-vllm/torchinductor`,
    },
    secretEnvironment: {
      ...spec.environment,
      ...(spec.apiKey === null ? {} : { VLLM_API_KEY: spec.apiKey }),
    },
  };
}
