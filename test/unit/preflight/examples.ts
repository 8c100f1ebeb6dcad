import { desiredState } from "../../../provider/src/core/desired";
import type { Finding } from "../../../provider/src/core/finding";
import type { GpuSeen, Observed } from "../../../provider/src/core/observed";
import type { GpuCondition } from "../../../provider/src/core/observed-gpu";
import { flagFindings, preflight, type Moment } from "../../../provider/src/core/preflight";
import type { Spec } from "../../../provider/src/core/spec";
import { flagTableFor } from "../../../provider/src/core/vllm-flags";
import { gpu, observed, owner, runningServer, soundCondition, spec } from "../../support/host-facts";

/** Everything that is found before a start, as converge() puts it together. */
export interface Situation {
  readonly wish?: Partial<Spec>;
  readonly seen?: Partial<Observed>;
  readonly host?: Partial<Observed["host"]>;
  readonly asked?: Moment;
}

export function found({ wish = {}, seen = {}, host = {}, asked }: Situation): readonly Finding[] {
  const [declared, looked] = [spec(wish), observed(seen)];
  const there = { ...looked, host: { ...looked.host, ...host } };
  const findings = preflight(declared, there, asked);
  const version = there.executable?.found === true ? there.executable.version : null;
  const flags = flagTableFor("0.32.0") ?? new Map<string, never>();
  const told = [...findings, ...flagFindings(declared, version, flags)];
  const isPossible = told.every(({ severity }) => severity !== "error");
  return isPossible ? [...told, ...desiredState(declared, there, flags, owner.urn).warnings] : told;
}

/** GPUs 0, 1, ... in these conditions. */
export function gpus(...conditions: readonly (Partial<GpuCondition> | null)[]): GpuSeen[] {
  return conditions.map((parts, index) =>
    gpu(index, {
      condition:
        parts === null ? null : { ...soundCondition, pciBusId: `0000:4${String(index + 1)}:00`, ...parts },
    }),
  );
}

export const two = { gpus: { kind: "derived", count: 2 }, engine: { tensorParallelSize: 2 } } as const;
export const vllm = (version: string | null): Pick<Observed, "executable"> => ({
  executable: { found: true, path: "/opt/vllm/bin/vllm", version },
});
export const running = {
  server: runningServer(desiredState(spec(), observed(), new Map(), owner.urn)),
};
const MIB = 1024 ** 2;
export const shm = (freeMib: number, totalMib = freeMib): Partial<Observed["host"]> => ({
  shmFreeBytes: freeMib * MIB,
  shmTotalBytes: totalMib * MIB,
});
export const limits = (openFilesSoft: number, openFilesHard: number): Partial<Observed["host"]> => ({
  openFilesSoft,
  openFilesHard,
});
/** The host's clock, seconds after this machine's, which waited two seconds for the answer. */
export const clock = (seconds: number): Pick<Situation, "host" | "asked"> => ({
  host: { clockSeconds: Date.UTC(2026, 11, 1) / 1000 + seconds },
  asked: { from: new Date(Date.UTC(2026, 11, 1)), to: new Date(Date.UTC(2026, 11, 1, 0, 0, 2)) },
});
