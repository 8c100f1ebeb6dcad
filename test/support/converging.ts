import { converge, type ConvergeResult, type ConvergeTask } from "../../provider/src/converge";
import { VllmServerError, type ErrorCode } from "../../provider/src/core/errors";
import type { Spec } from "../../provider/src/core/spec";
import { owner, spec } from "./host-facts";
import type { ToldHost } from "./told-host";

/** converge() on a host that is told what to answer. */

const URN = owner.urn;
export const lost = new VllmServerError({ code: "CONNECTION_LOST", summary: "Lost gpu1", retryable: true });

export interface Outcome {
  readonly result: ConvergeResult;
  readonly said: readonly string[];
}

export async function run(
  host: ToldHost,
  parts: Partial<ConvergeTask> = {},
  wishes: Partial<Spec> = {},
  isReachable = true,
): Promise<Outcome> {
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  const result = await converge({
    spec: spec(wishes),
    urn: URN,
    verb: "create",
    serverId: "kimi-new00000",
    claimId: "c1a1",
    agent: host,
    report: {
      progress: () => undefined,
      info: say,
      warning: say,
      isReachable: () => Promise.resolve(isReachable),
    },
    createdBy: "ann@laptop",
    now: () => new Date("2026-12-01T10:00:00Z"),
    ...parts,
  });
  return { result, said };
}

export function failureOf(result: ConvergeResult): {
  readonly code: ErrorCode | null;
  readonly touched: boolean;
} {
  if (result.kind === "converged") throw new Error("it converged");
  return {
    code: result.error instanceof VllmServerError ? result.error.code : null,
    touched: result.touched,
  };
}
