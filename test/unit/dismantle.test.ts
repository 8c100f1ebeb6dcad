import { describe, expect, it } from "vitest";
import { dismantle } from "../../provider/src/dismantle";
import { owner, spec } from "../support/host-facts";
import { ToldHost } from "../support/told-host";

/** What destroy says, and what it does to a host whose server has this owner record. */
async function end(host: ToldHost, claimId: string | null): Promise<readonly string[]> {
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  await dismantle({
    spec: spec(),
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
});
