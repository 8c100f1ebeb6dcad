import { diffInputs } from "./diff-inputs";
import { isOfOperations } from "./diff-effects";
import type { JsonObject } from "./json";
import { INPUT_NAMES } from "./input-reader";

/** Nothing is compared but inputs: where a host is the same one, the engine asked for an update. */
const SAME_HOST = { oldHost: "", newHost: "" };

/**
 * What an update whose host cannot be reached records all the same.
 * "all": nothing of it is the host's business, and the host was last seen as declared. "deletion": it failed, but what a deletion does has
 * to be in the state before one can do it, and a host that is lost will never answer again. "nothing": it failed.
 * @param olds outputs of the state
 * @param news checked inputs
 */
export function unreachedUpdate(
  olds: JsonObject,
  news: JsonObject,
): { readonly kind: "all" | "deletion" | "nothing"; readonly outputs: JsonObject } {
  if (isRecordable(olds, news)) {
    return { kind: "all", outputs: { ...seenIn(olds), ...news } };
  }
  const { onDelete, ...others } = olds;
  const isSame = JSON.stringify(onDelete ?? null) === JSON.stringify(news["onDelete"] ?? null);
  return isSame
    ? { kind: "nothing", outputs: olds }
    : { kind: "deletion", outputs: withWish(others, news["onDelete"]) };
}

/** What the state knows of the host: outputs without inputs. */
export function seenIn(olds: JsonObject): JsonObject {
  const inputs: readonly string[] = INPUT_NAMES;
  return Object.fromEntries(Object.entries(olds).filter(([name]) => !inputs.includes(name)));
}

function withWish(others: JsonObject, onDelete: JsonObject[string] | undefined): JsonObject {
  return onDelete === undefined ? others : { ...others, onDelete };
}

function isRecordable(olds: JsonObject, news: JsonObject): boolean {
  const { status, drift } = olds;
  const wasAsDeclared = status === "ready" && Array.isArray(drift) && drift.length === 0;
  // The owner record on the host follows a new name of the resource.
  if (!wasAsDeclared || olds["__urn"] !== news["__urn"]) return false;
  const diff = diffInputs(olds, news, SAME_HOST);
  return (
    [...diff.restart, ...diff.credentials, ...diff.unknown].length === 0 &&
    diff.live.every(({ path }) => isOfOperations(path))
  );
}
