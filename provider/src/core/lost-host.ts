import { VllmServerError } from "./errors";
import type { Spec } from "./spec";

export type LostHost =
  | { readonly kind: "forget"; readonly error: VllmServerError }
  | { readonly kind: "fail"; readonly error: unknown };

/**
 * What a deletion that failed comes to: the resource is forgotten only where that is wished and no machine answered. A changed host key, a
 * refused login, an agent that fails or a stop that is not proven all tell of a machine that is there.
 */
export function lostHost(error: unknown, wish: Spec["onDelete"]["unreachableHost"], urn: string): LostHost {
  if (!isUnreachable(error)) return { kind: "fail", error };
  const isSilent = error.details.isSilence === true;
  if (wish === "forget" && isSilent) return { kind: "forget", error };
  const change = isSilent ? `${GET_ANSWER}. Gone for good? ${FORGET}` : `${GET_ANSWER}. ${NOT_SILENT}`;
  return {
    kind: "fail",
    error: withChange(error, `${change}; without its program: pulumi state delete '${urn}'`),
  };
}

export function isUnreachable(error: unknown): error is VllmServerError {
  return error instanceof VllmServerError && error.code === "HOST_UNREACHABLE";
}

const GET_ANSWER = "get the host to answer, and run this again";

/** destroy knows what is in the state and nothing else. */
const FORGET =
  'Give the resource onDelete: { unreachableHost: "forget" }, run `pulumi up` (it records that without the host), then this again';

const NOT_SILENT =
  "Something answers, or the network here is down: onDelete.unreachableHost does not count then";

function withChange(error: VllmServerError, change: string): VllmServerError {
  return new VllmServerError({ ...error.details, change });
}
