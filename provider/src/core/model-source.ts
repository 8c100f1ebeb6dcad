import { canonicalJson, shortHash } from "./identity";
import type { HubModel, ModelSpec } from "./spec";
import { withoutCredentials } from "./url-credentials";

/** Whether a revision says itself what it is: 40 hex digits. Branches and tags move. */
export function isCommit(revision: string | null): revision is string {
  return revision !== null && /^[0-9a-f]{40}$/.test(revision);
}

/**
 * Under what name a host keeps what a declaration came to, 16 hex digits. The same for all who declare the same; with a branch or a tag each
 * resource has its own, because it stays where that resource found it.
 */
export function checkpointKey(model: HubModel, urn: string): string {
  const { repo, revision, include, exclude, cacheDir } = model;
  const endpoint = model.endpoint === null ? null : withoutCredentials(model.endpoint);
  const whose = isCommit(revision) ? undefined : urn;
  return shortHash(canonicalJson({ repo, revision, include, exclude, endpoint, cacheDir, whose }));
}

/** What a host is asked for: a path, or what it keeps under a key. */
export function checkpointWish(model: ModelSpec, urn: string): string {
  return model.kind === "local" ? model.path : `checkpoints/${checkpointKey(model, urn)}`;
}

/** For messages. */
export function modelLabel(model: ModelSpec): string {
  if (model.kind === "local") return model.path;
  return model.revision === null ? model.repo : `${model.repo}@${model.revision}`;
}

/** Name of the model in requests where none is given: of a folder its own, of a repository all of it, as vLLM does. */
export function modelName(model: ModelSpec): string {
  return model.kind === "hub" ? model.repo : (model.path.split("/").at(-1) ?? model.path);
}

/** Where the input stands that says which model. */
export function modelPlace(model: ModelSpec): string {
  return model.kind === "local" ? "model.path" : "model.repo";
}

/**
 * To which commit a branch or tag was resolved before; null: not, or another model was declared then.
 * @param before what the state declares; null: it is not readable
 * @param recorded the state's modelRevision
 */
export function keptRevision(before: ModelSpec | null, now: ModelSpec, recorded: unknown): string | null {
  if (before?.kind !== "hub" || now.kind !== "hub" || typeof recorded !== "string") return null;
  return isCommit(recorded) && checkpointKey(before, "") === checkpointKey(now, "") ? recorded : null;
}

/** Whether the commit that is declared is the one that is there: wherever it came from, it is the same. */
export function isSameCommit(before: ModelSpec, now: ModelSpec, recorded: string | null): boolean {
  return (
    before.kind === "hub" &&
    now.kind === "hub" &&
    before.repo === now.repo &&
    isCommit(now.revision) &&
    now.revision === (recorded ?? before.revision)
  );
}
