import { describe, expect, it } from "vitest";
import { VllmServerError } from "../../provider/src/core/errors";
import type { Spec } from "../../provider/src/core/spec";
import { dismantle } from "../../provider/src/dismantle";
import { owner, spec } from "../support/host-facts";
import { ToldHost } from "../support/told-host";

/** What destroy says, and what it does to a host whose server has this owner record. */
async function end(
  host: ToldHost,
  claimId: string | null,
  wishes: Partial<Spec> = {},
): Promise<readonly string[]> {
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  await dismantle({
    spec: spec(wishes),
    urn: owner.urn,
    serverId: owner.serverId,
    claimId,
    agent: host,
    report: {
      progress: () => undefined,
      info: say,
      warning: say,
      isReachable: () => Promise.resolve(true),
    },
    client: "ann@laptop",
  });
  return said;
}

describe("the end of a server", () => {
  it.each([owner.claimId, null])("is a stop, and then it is forgotten (claim %s)", async (claimId) => {
    const host = new ToldHost({ owner });
    expect(await end(host, claimId)).toEqual(["stopped in 1 s: 0 processes ended"]);
    expect(host.calls).toEqual(["observe", "stop forget"]);
  });

  it("gives the model's files back where that is wished, and tells what stays and why", async () => {
    const host = new ToldHost({ owner }).purging(3.1e9, "2 files of nvidia/kimi: lab-0a1b2c3d uses them");
    expect(await end(host, owner.claimId, { onDelete: { unreachableHost: "fail", model: "purge" } })).toEqual(
      [
        "stopped in 1 s: 0 processes ended",
        "purged 3.1 GB; kept 2 files of nvidia/kimi: lab-0a1b2c3d uses them",
      ],
    );
  });

  it("is nothing where nothing is", async () => {
    const host = new ToldHost();
    expect(await end(host, owner.claimId)).toEqual(["nothing of it is on the host any more"]);
    expect(host.calls).toEqual(["observe"]);
  });

  it("leaves a server alone that a newer resource has taken over", async () => {
    const host = new ToldHost({ owner });
    expect(await end(host, "01de")).toEqual(["a newer resource has taken it over: it is left alone"]);
    expect(host.calls).toEqual(["observe"]);
  });

  it.each(["CHANGED_MEANWHILE", "CONNECTION_LOST"] as const)("looks again after %s", async (code) => {
    const host = new ToldHost({ owner }).failing(
      new VllmServerError({ code, summary: "Cannot stop", retryable: true }),
    );
    expect(await end(host, owner.claimId)).toEqual([
      "Cannot stop; looking again",
      "stopped in 1 s: 0 processes ended",
    ]);
    expect(host.calls).toEqual(["observe", "stop forget", "observe", "stop forget"]);
  });

  it("is given up after three tries, and at once where another look is of no use", async () => {
    const failure = (code: "CHANGED_MEANWHILE" | "GPU_MEMORY_HELD"): VllmServerError =>
      new VllmServerError({ code, summary: "Cannot stop", retryable: true });
    const [restless, held] = [new ToldHost({ owner }), new ToldHost({ owner })];
    for (let tries = 1; tries <= 3; tries += 1) restless.failing(failure("CHANGED_MEANWHILE"));
    await expect(end(restless, owner.claimId)).rejects.toThrow("Cannot stop");
    await expect(end(held.failing(failure("GPU_MEMORY_HELD")), owner.claimId)).rejects.toThrow("Cannot stop");
    expect([restless.calls.length, held.calls.length]).toEqual([6, 2]);
  });
});
