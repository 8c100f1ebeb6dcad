import { type PatchResult, patchCheckpoint } from "../../core/config-patch";
import { chooseKvCacheFlag, type KvCacheFlag } from "../../core/kv-cache-flag";
import { attentionKindOf, modelDtypeOf } from "../../core/model-config";
import { readCheckpoint } from "./checkpoint-folder";
import { PatchFailure } from "./failure";
import type { PatchOptions } from "./options";
import { checkOutput, writeOverlay, type WrittenOverlay } from "./overlay-folder";
import { readOverrides } from "./overrides-file";

export interface PatchedFolder {
  readonly patch: Extract<PatchResult, { kind: "patched" }>;
  /** Every config file afterwards, whole, also those that stay. */
  readonly files: Readonly<Record<string, string>>;
  readonly flag: KvCacheFlag;
  /** null: nothing was to be written. */
  readonly written: WrittenOverlay | null;
}

/** Reads, patches and writes. All that can be refused is, before anything is written. Fails with PatchFailure. */
export function patchFolder(options: PatchOptions): PatchedFolder {
  const checkpoint = readCheckpoint(options.checkpoint);
  const overrides = readOverrides(options.overrides);
  if (options.out !== null) checkOutput(options.out, checkpoint.path);
  const patch = patchCheckpoint({
    files: checkpoint.files,
    kvCacheDtype: options.kvCacheDtype,
    ...overrides,
  });
  if (patch.kind === "rejected") throw new PatchFailure(patch.code, patch.message);
  const files = { ...present(checkpoint.files), ...patch.files };
  const config = files["config.json"] ?? null;
  const flag = chooseKvCacheFlag({
    wish: options.kvCacheDtype,
    vllmVersion: options.vllmVersion,
    modelDtype: modelDtypeOf(config),
    attentionKind: attentionKindOf(config),
    dtypeArgument: null,
    files,
  });
  const written = options.out === null ? null : writeOverlay(options.out, checkpoint, patch.files);
  return { patch, files, flag, written };
}

function present(files: Readonly<Record<string, string | null>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(files).flatMap(([name, text]) => (text === null ? [] : [[name, text] as const])),
  );
}
