import { describe, expect, it } from "vitest";
import type { Observation } from "../../provider/src/core/observed";
import type { ServerQuery } from "../../provider/src/remote/protocol";
import { answerFrom } from "../../provider/src/remote/sight";
import { query, sight } from "../support/sights";

const told = (parts: Partial<ServerQuery> = {}): Observation["servers"][number] | null =>
  answerFrom(sight(), { ...query, ...parts })?.servers[0] ?? null;

describe("a query that the look was not made for", () => {
  it("is answered whole from what the look told of the host, the server and the parts", () => {
    const { observation, others } = sight();
    const [own] = others.servers;
    expect(answerFrom(sight(), query)).toEqual({
      ...observation,
      servers: [
        {
          server: { ...own?.server, secretsMatch: true },
          executable: others.executables[0]?.seen,
          checkpoint: others.checkpoints[1],
          port: { free: true },
        },
      ],
      queryIndex: 0,
    });
  });

  it.each<[string, Partial<ServerQuery>]>([
    ["another server", { serverId: "kimi-99999999" }],
    ["another executable", { executable: "/opt/other/bin/vllm" }],
    ["another executable by name", { executable: "vllm-next" }],
    ["another checkpoint", { checkpointPath: "/models/kimi-2" }],
    ["a checkpoint in another user's home", { checkpointPath: "~bob/kimi" }],
    ["another port", { listen: { address: "127.0.0.1", port: 8001 } }],
    ["another address", { listen: { address: "0.0.0.0", port: 8000 } }],
  ])("has no answer for %s: that is for a look of its own", (_what, parts) => {
    expect(told(parts)).toBeNull();
  });

  it.each([
    ["/home/ann/v/bin/vllm", "/home/ann/v/bin/vllm"],
    ["~/v/bin/vllm", "/home/ann/v/bin/vllm"],
    ["v/bin/../bin/vllm", "/home/ann/v/bin/vllm"],
    [null, "/opt/vllm/bin/vllm"],
  ])("finds the executable %s by the path that the host makes of it", (executable, path) => {
    expect(told({ executable })?.executable).toMatchObject({ path });
  });

  it.each([
    ["/models//kimi/", true],
    ["~/models/kimi", false],
    ["models/kimi", false],
  ])("finds the checkpoint %s by the path that the host makes of it", (checkpointPath, found) => {
    expect(told({ checkpointPath })?.checkpoint).toMatchObject({ found });
  });

  it("is told nothing of what it does not ask for", () => {
    const { executable: _executable, checkpointPath: _checkpointPath, ...less } = query;
    expect(answerFrom(sight(), less)?.servers[0]).toMatchObject({ executable: null, checkpoint: null });
  });

  it("learns from the hash whether its secrets are those on the host, whatever the agent says of its own", () => {
    expect(told()?.server.secretsMatch).toBe(true);
    expect(told({ secretEnvironment: { VLLM_API_KEY: "K" } })?.server).toMatchObject({
      secretsMatch: false,
      differences: { secrets: ["VLLM_API_KEY"] },
    });
    const [own] = sight().others.servers;
    if (own === undefined) throw new Error("no server in the sight");
    const unstarted = sight({ servers: [{ ...own, secretHashes: null }] });
    expect(answerFrom(unstarted, query)?.servers[0]?.server.secretsMatch).toBeNull();
  });
});
