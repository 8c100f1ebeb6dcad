import type { EngineArgs } from "pulumi-vllm";
import type { Role } from "./roles";

export interface Machine {
  /** user@host, or an alias of ~/.ssh/config. */
  readonly host: string;
  readonly role: Role;
  /** What is this machine's own, over the flags of its role. */
  readonly overrides?: EngineArgs;
}

/** One row a machine. A role or a flag that does not exist is an error in the editor. */
export const machines: readonly Machine[] = [
  { host: "gpu1", role: "chat" },
  { host: "gpu2", role: "chat" },
  { host: "gpu3", role: "chat", overrides: { maxModelLen: 131072, maxNumSeqs: 16 } },
  { host: "gpu4", role: "code" },
  { host: "gpu5", role: "code" },
  { host: "gpu6", role: "embed" },
];
