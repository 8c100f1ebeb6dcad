import type { InputPath } from "../input-path";
import type { Observed } from "../observed";
import type { SecretMarks } from "../secret-marks";
import type { Spec } from "../spec";
import type { Drift } from "./drift";
import { secretDrift } from "./process-drift";

/** Recorded as configHash by an update that ended before it knew its own. */
export const UNSETTLED = "unsettled";

/** What a state believes of the server beyond what the host itself tells. */
export interface Believed {
  /** null: not recorded. */
  readonly configHash: string | null;
  /** The resource that has it; null: not recorded, then whoever has the server is the right one. */
  readonly claimId: string | null;
  readonly service: Spec["service"];
  readonly marks: SecretMarks;
}

/** What was started, against what this state declares. Of a server that was never started there is nothing to compare. */
export function declaredDrift(observed: Observed, { configHash, service }: Believed): readonly Drift[] {
  const { launch } = observed.server;
  if (launch === null) return [];
  return [
    ...(configHash === null || configHash === launch.fingerprint
      ? []
      : [
          of(
            ["configHash"],
            launch.fingerprint,
            configHash === UNSETTLED
              ? "an earlier declaration was started: the last update ended before it came to its own"
              : `another declaration was started (configHash ${configHash} -> ${launch.fingerprint})`,
          ),
        ]),
    ...secretDrift(observed.server),
    ...executableDrift(observed),
    ...policyDrift(observed, service),
  ];
}

/**
 * The vllm of the login environment can become another one. One that is gone harms only the next start; one that was installed by us is
 * installed again beside the running server.
 */
function executableDrift({ host, server: { launch }, executable }: Observed): readonly Drift[] {
  if (launch === null || executable === null) return [];
  const path: InputPath = ["vllm", "executable"];
  if (!executable.found && launch.executable.startsWith(`${host.stateRoot}/environments/`)) {
    const words = `its environment ${launch.executable} is not on the host any more (${executable.reason})`;
    return [
      { path: ["vllmVersion"], found: `${launch.vllmVersion ?? ""} (removed)`.trim(), words, repair: "live" },
    ];
  }
  if (!executable.found) {
    const words = `not on the host any more (${executable.reason}): the next start fails`;
    return [{ path, found: `${launch.executable} (gone)`, words, repair: "none" }];
  }
  if (executable.path === launch.executable) return [];
  return [of(path, launch.executable, `${launch.executable} runs, declared ${executable.path}`)];
}

/** Of a server that does not run they are suspended or about to be written again. */
function policyDrift({ server: { launch, leader } }: Observed, service: Spec["service"]): readonly Drift[] {
  if (launch === null || leader === null) return [];
  const { restart, logs } = launch;
  const pairs: readonly (readonly [InputPath, number, number | undefined])[] = [
    [["service", "restart", "max"], service.restart.max, restart.max],
    [["service", "restart", "withinSeconds"], service.restart.withinSeconds, restart.withinSeconds],
    [["service", "restart", "delaySeconds"], service.restart.delaySeconds, restart.delaySeconds],
    [["service", "logs", "keep"], service.logs.keep, logs?.keep],
    [["service", "logs", "maxBytes"], service.logs.maxBytes, logs?.maxBytes],
  ];
  return pairs.flatMap(([path, declared, found]) =>
    found === undefined || found === declared
      ? []
      : [
          {
            path,
            found,
            words: `${String(found)} counts, declared ${String(declared)}`,
            repair: "live" as const,
          },
        ],
  );
}

function of(path: InputPath, found: string, words: string): Drift {
  return { path, found, words, repair: "restart" };
}
