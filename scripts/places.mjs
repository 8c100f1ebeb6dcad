import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout. */
export const repositoryFolder = resolve(fileURLToPath(new URL("..", import.meta.url)));

/** Binaries of node_modules; first on PATH of everything that runs here, because Node 24 lives there. */
export const nodeBinFolder = join(repositoryFolder, "node_modules", ".bin");

/**
 * Where big things that outlive a checkout are kept (Pulumi CLI, Python tools, a CPU vLLM).
 * @returns {string} absolute path; nothing is created
 */
export function cacheFolder() {
  const { PULUMI_VLLM_CACHE: own, XDG_CACHE_HOME: shared } = process.env;
  if (own) return resolve(own);
  return join(shared ? resolve(shared) : join(homedir(), ".cache"), "pulumi-vllm");
}
