import { takenOver } from "./drift";
import { VllmServerError } from "./errors";
import type { Observed } from "./observed";

export interface Claimant {
  /** create refuses a server that is confirmed to be somebody else's; update knows that it is ours. */
  readonly verb: "create" | "update";
  readonly claimId: string;
  /** `server "kimi" on gpu1` */
  readonly server: string;
}

/** Why the server on the host is not the claimant's to change; null: it is, or nobody's. */
export function foreignOwner(
  observed: Observed,
  { verb, claimId, server }: Claimant,
): VllmServerError | null {
  const owner = observed.server.owner;
  // Its own too, where the connection broke after the confirmation.
  if (owner?.confirmed !== true || owner.claimId === claimId) return null;
  if (verb === "update") {
    const newer = takenOver(observed, claimId);
    if (newer === null) return null;
    return new VllmServerError({
      code: "SERVER_REPLACED",
      summary: `Cannot update ${server}: ${newer}`,
      change:
        `take it out of one of the two states (\`pulumi state delete\`); to give it back to this one, ` +
        `set "confirmed" to false in ${ownerFile(observed)} on the host and run \`pulumi up\` again`,
      retryable: false,
    });
  }
  return new VllmServerError({
    code: "OWNED_BY_ANOTHER",
    summary:
      `Cannot create ${server}: the host already has this server (${owner.serverId}) of ${owner.project}/${owner.stack}, ` +
      `created by ${owner.createdBy} at ${owner.createdAt}`,
    change:
      `destroy it from the stack that has it; to replace it in place, give the resource the option ` +
      `deleteBeforeReplace; if the state that has it is lost, or \`host\` is another name of the same machine, ` +
      `set "confirmed" to false in ${ownerFile(observed)} on the host and run \`pulumi up\` again: it takes the server over`,
    retryable: false,
  });
}

function ownerFile({ server }: Observed): string {
  return `${server.stateFolder ?? "its state folder"}/owner.json`;
}
