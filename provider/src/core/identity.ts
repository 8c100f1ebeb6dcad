import { createHash } from "node:crypto";
import { isRecord } from "./input-json";
import type { JsonObject } from "./json";
import type { EngineSpec, GpuWish } from "./spec";
import { LIVE_VARIABLES } from "./vllm-command-environment";

/** Everything that, when it differs, means another start; no secrets, because vLLM shows the fingerprint to every client. */
export interface Declaration {
  readonly executable: string;
  readonly modelPath: string;
  /** Text of the file for `--config`, without the fingerprint itself. */
  readonly config: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly gpus: unknown;
  /** Which files of a repository; undefined: what vLLM loads, or a folder. */
  readonly selection?: unknown;
}

/** 16 hex digits, the same for the same declaration whatever the order of its keys. */
export function fingerprintOf(declaration: Declaration): string {
  const environment = Object.entries(declaration.environment).filter(([name]) => !LIVE_VARIABLES.has(name));
  return shortHash(canonicalJson({ ...declaration, environment: Object.fromEntries(environment) }));
}

/** Name of an overlay folder, 32 hex digits: the same checkpoint and files give the same folder. */
export function overlayName(checkpointPath: string, files: Readonly<Record<string, string>>): string {
  return hashed(canonicalJson({ checkpointPath, files })).slice(0, 32);
}

/** The readable half of a server id: 1 to 32 characters of a-z, 0-9 and dashes. */
export function serverSlug(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 32)
    .replace(/^-+|-+$/g, "");
  return slug === "" ? "server" : slug;
}

/** GPUs that the parallel sizes need. vLLM's world is TP x PP x prefill context parallel, once per data-parallel rank. */
export function gpusNeeded(engine: EngineSpec, extraArgs: JsonObject): number {
  const sizes = [
    engine["tensorParallelSize"],
    engine["pipelineParallelSize"],
    engine["dataParallelSize"],
    extraArgs["prefill-context-parallel-size"],
  ];
  return sizes.reduce<number>((product, size) => (typeof size === "number" ? product * size : product), 1);
}

export function listedGpuCount(wish: GpuWish): number {
  return wish.kind === "list" ? wish.ids.length : wish.count;
}

export function isLoopback(address: string): boolean {
  return address === "localhost" || address === "::1" || /^127\.\d+\.\d+\.\d+$/.test(address);
}

/** JSON text with sorted keys; members that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (!isRecord(value)) return value === undefined ? "null" : JSON.stringify(value);
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(",")}}`;
}

/** 16 hex digits. */
export function shortHash(text: string): string {
  return hashed(text).slice(0, 16);
}

function hashed(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
