import type { EngineArgs, VllmServerArgs } from "pulumi-vllm";

/** Inputs of a server, but for where it runs; the flags as a plain object, so that a machine can add its own. */
type RoleArgs = Omit<VllmServerArgs, "host" | "engine"> & { readonly engine: EngineArgs };

/** What all servers have. */
const shared = {
  service: { restart: { max: 3 }, logs: { keep: 10 } },
  timeouts: { ready: 1800 },
} satisfies Partial<VllmServerArgs>;

export const roles = {
  chat: {
    ...shared,
    model: { path: "/models/Qwen3-235B-A22B-FP8" },
    engine: { servedModelName: ["chat"], tensorParallelSize: 8, maxModelLen: 32768 },
  },
  code: {
    ...shared,
    model: { path: "/models/Qwen3-Coder-30B-A3B-Instruct" },
    engine: { servedModelName: ["code"], tensorParallelSize: 4, maxModelLen: 65536 },
  },
  embed: {
    ...shared,
    model: { path: "/models/Qwen3-Embedding-8B" },
    engine: { servedModelName: ["embed"], runner: "pooling" },
  },
} satisfies Record<string, RoleArgs>;

export type Role = keyof typeof roles;
