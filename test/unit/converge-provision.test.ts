import { describe, expect, it } from "vitest";
import type { Observed } from "../../provider/src/core/observed";
import { failureOf, lost, run } from "../support/converging";
import { environment, hubModel } from "../support/host-facts";
import { COMMIT, SNAPSHOT, ToldHost } from "../support/told-host";

describe("converge with a model and a vLLM that it brings there", () => {
  const wishes = { model: hubModel({ revision: "main" }), vllm: environment() };
  const nothing: Partial<Observed> = {
    executable: { found: false, reason: "it is not installed yet" },
    checkpoint: { found: false, path: "nvidia/kimi@main", reason: "it is not downloaded yet" },
  };
  const arrived = [
    "installed vLLM 0.32.0 in 95 s",
    `nvidia/kimi@main is ${COMMIT}, and stays that until the input changes`,
    "downloaded 540.1 GB in 512 s (119 files, 540.1 GB)",
  ];

  it("does so first, looks again, and plans with what is there then", async () => {
    const host = new ToldHost({}, nothing);
    const { result, said } = await run(host, {}, wishes);
    expect(result).toMatchObject({
      kind: "converged",
      observed: { checkpoint: { revision: COMMIT }, server: { launch: { modelPath: SNAPSHOT } } },
    });
    const start = ["claim install fetch", "observe", "start wait"];
    expect(host.calls).toEqual(["observe", ...start, "observe", "confirm"]);
    expect(said).toEqual([
      ...arrived,
      "ready in 919 s: install 95, download 512, start 312; 131,072 tokens, KV cache bfloat16",
    ]);
  });

  it("looks at both once more before a restart, and leaves a server that runs as declared alone", async () => {
    const host = new ToldHost({}, nothing);
    await run(host, {}, wishes);
    host.calls.length = 0;
    const update = { verb: "update", serverId: "kimi-new00000" } as const;
    await run(host, update, wishes);
    const { said } = await run(host, update, { ...wishes, engine: { maxModelLen: 64 } });
    expect(host.calls).toEqual(["observe", "observe", "install fetch stop start wait", "observe"]);
    expect(said).toEqual([
      "ready in 312 s: install 0, download 0, start 312; 131,072 tokens, KV cache bfloat16",
    ]);
  });

  it("brings back beside the running server what was taken away, without a restart", async () => {
    const host = new ToldHost({}, nothing);
    await run(host, {}, wishes);
    host.calls.length = 0;
    host.lose();
    const update = { verb: "update", serverId: "kimi-new00000", resolvedRevision: COMMIT } as const;
    const { said } = await run(host, update, wishes);
    expect(host.calls).toEqual(["observe", "install fetch", "observe"]);
    expect(said).toEqual([arrived[0], arrived[2]]);
  });

  it("says what the whole of it took", async () => {
    let minutes = 0;
    const now = (): Date => new Date(Date.UTC(2026, 11, 1, 10, minutes++));
    const { said } = await run(new ToldHost({}, nothing).arriving(1e9, 2e9), { now }, wishes);
    expect(said.at(-1)).toMatch(/^ready in \d+ s: install 95, download 512, start 312; /);
  });

  it("touches nothing where the port is taken", async () => {
    const port = { free: false, pid: 7, user: "bob", command: "nginx", serverId: null } as const;
    const host = new ToldHost({}, { ...nothing, port });
    expect(failureOf((await run(host, {}, wishes)).result)).toEqual({
      code: "PORT_IN_USE",
      touched: false,
    });
  });

  it("goes on for as many connections as it takes while bytes arrive, and gives up where none do", async () => {
    const host = new ToldHost({}, nothing).arriving(1e9, 2e9, 3e9, 4e9, 5e9);
    for (let cut = 1; cut <= 5; cut += 1) host.failing(lost);
    expect((await run(host, {}, wishes)).result.kind).toBe("converged");
    const stuck = new ToldHost({}, nothing).arriving(1e9, 1e9, 1e9, 1e9, 1e9);
    for (let cut = 1; cut <= 5; cut += 1) stuck.failing(lost);
    expect(failureOf((await run(stuck, {}, wishes)).result)).toEqual({
      code: "CONNECTION_LOST",
      touched: true,
    });
    expect(stuck.calls.filter((call) => call !== "observe")).toHaveLength(4);
  });

  it("looks again where what arrived is gone before it could be used", async () => {
    const host = new ToldHost({}, nothing).losing();
    const { result, said } = await run(host, {}, wishes);
    expect(result.kind).toBe("converged");
    expect(said).toContain(
      'Cannot start server "kimi" on gpu1: vLLM 0.33.0 was complete, and is not any more; the work on the host goes on, looking again',
    );
  });
});
