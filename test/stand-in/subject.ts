import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { layOutStandIn, type StandIn, type StandInOptions } from "../support/stand-in";
import type { Subject } from "../vllm/observations-server";

/** One installation of the stand-in in a folder of its own. */
export interface Installed extends StandIn {
  readonly folder: string;
  subject(environment?: Readonly<Record<string, string>>): Subject;
  remove(): void;
}

export function install(options: StandInOptions = {}): Installed {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "stand-in-")));
  const laidOut = layOutStandIn(folder, options);
  return {
    ...laidOut,
    folder,
    subject: (environment = {}) => ({
      executable: laidOut.executable,
      environment: {
        STAND_IN_START_SECONDS: "1",
        STAND_IN_STOP_SECONDS: "0.1",
        STAND_IN_DEATH_SECONDS: "0.1",
        ...environment,
      },
      patienceSeconds: 40,
    }),
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The YAML of a small server; more lines may follow. */
export const SMALL = ['served-model-name: "tiny"', 'load-format: "dummy"', "max-model-len: 128", ""].join(
  "\n",
);
