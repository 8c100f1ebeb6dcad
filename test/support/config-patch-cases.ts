import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "../../provider/src/core/json";

/** A checkpoint's configs, a wish, and what the tool and vLLM 0.32.0 make of them. */
export interface ConfigPatchCase {
  readonly id: string;
  readonly files: Readonly<Record<string, JsonObject>>;
  readonly kvCacheDtype: string;
  readonly quantizationConfigOverrides?: JsonObject;
  readonly configOverrides?: JsonObject;
  readonly expect: {
    readonly filesAfter: Readonly<Record<string, JsonValue>>;
    /** `file#/json/pointer`. */
    readonly changed: readonly string[];
    readonly rejected: false | string;
    readonly warnings: readonly string[];
    /** What vLLM settles on; null: it refuses; absent: it was not asked. */
    readonly vllmResolves?: string | null;
  };
  readonly oracle?: {
    /** The original files with --kv-cache-dtype auto. */
    readonly before: { readonly resolves: string | null; readonly capability?: string };
  };
}

const folder = join(import.meta.dirname, "..", "cases", "config-patch");

export const CONFIG_PATCH_CASES: readonly ConfigPatchCase[] = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name): ConfigPatchCase => JSON.parse(readFileSync(join(folder, name), "utf8")));
