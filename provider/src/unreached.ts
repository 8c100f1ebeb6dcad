import { withAlso, type VllmServerError } from "./core/errors";
import { leftBehind } from "./core/left-behind";
import { lostHost } from "./core/lost-host";
import { unreachedUpdate } from "./core/unreached-update";
import { presentable, reportTo, type Declared } from "./declared";
import { newestWish } from "./newest-wish";
import { initError, type Wire } from "./pulumi/adapter";
import { engineLog } from "./pulumi/engine-log";

/** What update and delete come to when the host does not answer. */

/** What can be recorded without the host is; the rest is an error, and stays to be done. */
export async function recordedUnreached(
  id: string,
  error: VllmServerError,
  task: Declared,
  olds: Wire,
  inputs: Wire,
): Promise<Wire> {
  const { kind, outputs } = unreachedUpdate(olds, inputs);
  switch (kind) {
    case "all":
      reportTo(task).warning(`recorded, without a look at the host: ${error.details.summary}`);
      await engineLog().flush();
      return outputs;
    case "deletion":
      throw initError(id, outputs, [
        presentable(withAlso(error, "what onDelete says is recorded, and counts for a deletion"), task)
          .message,
      ]);
    case "nothing":
      throw presentable(error, task);
    default:
      return kind satisfies never;
  }
}

/** After a deletion that failed: returns only when the resource is to be forgotten, which is told with what may still run there. */
export async function forgetOrFail(id: string, error: unknown, task: Declared, props: Wire): Promise<void> {
  const { spec, urn } = task;
  const lost = lostHost(error, newestWish(urn, spec.onDelete), urn);
  if (lost.kind === "fail") throw presentable(lost.error, task);
  const told = [FORGOTTEN, lost.error.details.summary, ...leftBehind(spec, id, props)];
  reportTo(task).warning(told.join("\n  "));
  await engineLog().flush();
}

const FORGOTTEN =
  'its host does not answer, and onDelete.unreachableHost is "forget": deleted from the state, and from there only';
