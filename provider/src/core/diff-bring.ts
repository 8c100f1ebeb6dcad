import { sizeText } from "./amount-text";
import { isSameCommit, modelLabel } from "./model-source";
import type { HubModel, ModelSpec, Spec, VllmSpec } from "./spec";
import { environmentName } from "./vllm-source";

/** What an update brings to a host before it touches what runs there. */
export interface Bringing {
  /** vLLM, in an environment that the host may not have; null: the one it has stays. */
  readonly environment: string | null;
  /** A checkpoint that the host may not have all of; null: the one it has stays. */
  readonly checkpoint: string | null;
  /** Of that checkpoint, as seen on the host that it leaves; null: only the hub knows. */
  readonly bytes: number | null;
}

/** @param recorded modelRevision and modelBytes of the state. */
export function bringing(
  before: Spec,
  after: Spec,
  isMove: boolean,
  recorded: { readonly revision: string | null; readonly bytes: number | null },
): Bringing {
  const isSameModel = sameModel(before.model, after.model, recorded.revision);
  const isDownload = after.model.kind === "hub" && (isMove || !isSameModel);
  return {
    environment:
      after.vllm.kind === "environment" && (isMove || !isSameEnvironment(before.vllm, after.vllm))
        ? (after.vllm.version ?? "the newest")
        : null,
    checkpoint: isDownload ? modelLabel(after.model) : null,
    bytes: isDownload && isSameModel ? recorded.bytes : null,
  };
}

function isSameEnvironment(before: VllmSpec, after: VllmSpec): boolean {
  return (
    before.kind === "environment" &&
    after.kind === "environment" &&
    environmentName(before) === environmentName(after)
  );
}

/** The same files in the same place: another hub for the very commit that is there brings nothing. */
function sameModel(before: ModelSpec, after: ModelSpec, revision: string | null): boolean {
  if (before.kind !== "hub" || after.kind !== "hub") return false;
  const placeOf = ({ repo, include, exclude, cacheDir }: HubModel): string =>
    JSON.stringify([repo, include, exclude, cacheDir]);
  const isSameWish = before.revision === after.revision && before.endpoint === after.endpoint;
  return placeOf(before) === placeOf(after) && (isSameWish || isSameCommit(before, after, revision));
}

/** Words for a preview; [] where nothing is brought. */
export function bringingWords({ environment, checkpoint, bytes }: Bringing): readonly string[] {
  const parts = [
    ...(environment === null ? [] : [`vLLM ${environment} into an environment of its own`]),
    ...(checkpoint === null
      ? []
      : [`${checkpoint}${bytes === null ? "" : `, ${sizeText(bytes)}`}, as far as the host lacks it`]),
  ];
  return parts.length === 0 ? [] : [`before that, beside what runs: ${parts.join("; ")}`];
}
