import { canonicalJson, shortHash } from "./identity";
import type { VllmEnvironment, VllmSpec } from "./spec";
import { withoutCredentials } from "./url-credentials";

/** Name of an environment's folder, 16 hex digits: the same declaration is the same environment, whoever's credentials install it. */
export function environmentName(vllm: VllmEnvironment): string {
  const { version, python, torchBackend } = vllm;
  return shortHash(
    canonicalJson({
      version,
      python,
      torchBackend,
      // Their order decides nothing; that of indexes does.
      packages: vllm.packages.map(withoutCredentials).sort(),
      indexUrl: vllm.indexUrl === null ? null : withoutCredentials(vllm.indexUrl),
      extraIndexUrls: vllm.extraIndexUrls.map(withoutCredentials),
    }),
  );
}

/** What a host is asked for: a path, "environments/<name>"; null: the vllm of the login environment. */
export function executableWish(vllm: VllmSpec): string | null {
  return vllm.kind === "executable" ? vllm.executable : `environments/${environmentName(vllm)}`;
}

/** Every text of it that can hold credentials. */
export function vllmUrls(vllm: VllmSpec): readonly string[] {
  if (vllm.kind === "executable") return [];
  return [...(vllm.indexUrl === null ? [] : [vllm.indexUrl]), ...vllm.extraIndexUrls, ...vllm.packages];
}

/** Whether it is known before it is installed that it has no use for GPUs. */
export function isCpuEnvironment(vllm: VllmSpec): boolean {
  return (
    vllm.kind === "environment" && (vllm.torchBackend === "cpu" || vllm.version?.includes("+cpu") === true)
  );
}
