import { describe, expect, it } from "vitest";
import type { ConvergeResult } from "../../provider/src/converge";
import { VllmServerError, type ErrorCode } from "../../provider/src/core/errors";
import type { Observed } from "../../provider/src/core/observed";
import type { Spec } from "../../provider/src/core/spec";
import { failureOf, lost, run } from "../support/converging";
import { owner, SERVER_ID } from "../support/host-facts";
import { PROVEN, ToldHost } from "../support/told-host";

const held = new VllmServerError({ code: "GPU_MEMORY_HELD", summary: "Cannot free GPU 0", retryable: true });

describe("converge", () => {
  it("claims, starts, waits, looks again and confirms last where nothing is there", async () => {
    const host = new ToldHost();
    const { result, said } = await run(host);
    expect(result).toMatchObject({
      kind: "converged",
      serverId: "kimi-new00000",
      observed: { server: { status: "ready" } },
    });
    expect(host.calls).toEqual(["observe", "claim fetch start wait", "observe", "confirm"]);
    expect(said).toEqual(["ready in 312 s: start 312; 131,072 tokens, KV cache bfloat16"]);
  });

  it("says what the host's manager had to note", async () => {
    const notes = ["will not start at boot: the user may not linger", "no systemd: sudo asks for a password"];
    const { said } = await run(new ToldHost().noting(...notes));
    expect(said).toEqual([...notes, "ready in 312 s: start 312; 131,072 tokens, KV cache bfloat16"]);
  });

  it("says nothing of that where the start failed", async () => {
    const host = new ToldHost().noting("will not start at boot: the user may not linger");
    const { said } = await run(host.waiting({ outcome: "exited", code: 1, signal: null }));
    expect(said).toEqual([]);
  });

  it("says what the host lacks that vLLM may need, whatever becomes of the start", async () => {
    const host = new ToldHost().lacking("no nvcc on the host; needed by FlashInfer");
    const { said } = await run(host.waiting({ outcome: "exited", code: 1, signal: null }));
    expect(said).toEqual(["no nvcc on the host; needed by FlashInfer"]);
  });

  it("touches nothing where everything is as declared", async () => {
    const host = new ToldHost();
    await run(host);
    host.calls.length = 0;
    const { result } = await run(host, { verb: "update", serverId: "kimi-new00000" });
    expect([result.kind, host.calls]).toEqual(["converged", ["observe"]]);
  });

  it("does not confirm when nobody is there any more to remember the server", async () => {
    const host = new ToldHost();
    await run(host, {}, {}, false);
    expect(host.calls.at(-1)).toBe("observe");
  });

  it("takes the confirmation back when whoever should remember the server died meanwhile", async () => {
    const host = new ToldHost();
    const answers = [true, false];
    const report = {
      progress: () => undefined,
      info: () => undefined,
      warning: () => undefined,
      isReachable: () => Promise.resolve(answers.shift() ?? false),
    };
    await run(host, { report });
    expect(host.calls.slice(-2)).toEqual(["confirm", "confirm"]);
    const { servers, queryIndex } = await host.observe();
    expect(servers[queryIndex]?.server.owner?.confirmed).toBe(false);
  });

  it("knows its own server again when the connection breaks after the confirmation", async () => {
    const host = new ToldHost().waiting({ outcome: "ready", ready: PROVEN }).failing(lost, "wait");
    const { result } = await run(host);
    expect(result).toMatchObject({ kind: "converged", observed: { server: { owner: { confirmed: true } } } });
    expect(host.calls).toEqual(["observe", "claim fetch start wait", "observe", "confirm", "observe"]);
  });

  it("goes on under the id of the unfinished create that it finds", async () => {
    const host = new ToldHost({ owner: { ...owner, confirmed: false } });
    expect((await run(host)).result.serverId).toBe(SERVER_ID);
  });

  it("claims anew what an older resource of its name began, so that the end of that one ends nothing", async () => {
    const host = new ToldHost({ owner: { ...owner, confirmed: false, claimId: "01de" } });
    const { result } = await run(host);
    expect(result).toMatchObject({
      observed: { server: { owner: { serverId: SERVER_ID, claimId: "c1a1" } } },
    });
    expect(host.calls[1]).toBe("claim fetch start wait");
  });

  it("refuses to create a server that is confirmed to be there, untouched; an update knows that it is its own", async () => {
    const { result } = await run(new ToldHost({ owner }), { claimId: "c2a2" });
    expect(failureOf(result)).toEqual({ code: "OWNED_BY_ANOTHER", touched: false });
    expect((await run(new ToldHost({ owner }), { verb: "update" })).result.kind).toBe("converged");
  });

  it.each<[string, Partial<Observed>, Partial<Spec>, ErrorCode]>([
    ["no vLLM", { executable: { found: false, reason: "no vllm" } }, {}, "VLLM_NOT_FOUND"],
    ["no checkpoint", { checkpoint: { found: false, path: "/m", reason: "-" } }, {}, "CHECKPOINT_NOT_FOUND"],
    ["a flag that vLLM does not know", {}, { extraArgs: { "swap-space": 4 } }, "FLAG_UNKNOWN"],
    ["overrides of no config", {}, { quantizationConfigOverrides: { a: 1 } }, "CONFIG_PATCH_REJECTED"],
  ])("touches nothing for %s", async (_what, facts, wishes, code) => {
    const host = new ToldHost({}, facts);
    expect(failureOf((await run(host, {}, wishes)).result)).toEqual({ code, touched: false });
    expect(host.calls).toEqual(["observe"]);
  });

  it("asks a version without a table for its flags", async () => {
    const host = new ToldHost({}, { executable: { found: true, path: "/v/vllm", version: "0.31.0" } });
    const { result } = await run(host, {}, { extraArgs: { "made-up": 4 } });
    expect(failureOf(result)).toEqual({ code: "FLAG_UNKNOWN", touched: false });
    expect(host.calls).toEqual(["observe", "flags"]);
  });

  it("looks anew when the connection breaks, and finds what has come of the start", async () => {
    const host = new ToldHost().failing(lost, "wait");
    const { result, said } = await run(host);
    expect(result.kind).toBe("converged");
    expect(host.calls).toEqual([
      "observe",
      "claim fetch start wait",
      "observe",
      "wait",
      "observe",
      "confirm",
    ]);
    expect(said[0]).toBe("Lost gpu1; the work on the host goes on, looking again");
  });

  it("gives up after three tries, and remembers that the host was touched", async () => {
    const host = new ToldHost().failing(lost).failing(lost).failing(lost);
    expect(failureOf((await run(host)).result)).toEqual({ code: "CONNECTION_LOST", touched: true });
    expect(host.calls.filter((call) => call === "observe")).toHaveLength(3);
  });

  it("ends what is left of a failed start, and then tells why it failed", async () => {
    const host = new ToldHost().waiting({ outcome: "exited", code: 1, signal: null });
    const { result } = await run(host);
    expect(failureOf(result)).toEqual({ code: "START_FAILED", touched: true });
    expect(host.calls).toEqual(["observe", "claim fetch start wait", "observe", "stop"]);
  });

  describe("an update whose start fails", () => {
    const update = { verb: "update", serverId: "kimi-new00000" } as const;
    const exited = { outcome: "exited", code: 1, signal: null } as const;
    const newer = { engine: { maxModelLen: 4096 } };
    const alsoOf = (result: ConvergeResult): unknown =>
      result.kind === "failed" && result.error instanceof VllmServerError ? result.error.details.also : null;
    const serving = async (): Promise<ToldHost> => {
      const host = new ToldHost();
      await run(host);
      host.calls.length = 0;
      return host.waiting(exited);
    };

    it("fails, and what was ready last serves again, which is told", async () => {
      const host = await serving();
      const before = (await host.observe()).servers[0]?.server.launch?.fingerprint;
      host.calls.length = 0;
      const { result } = await run(host, update, newer);
      expect(failureOf(result)).toEqual({ code: "START_FAILED", touched: true });
      expect(alsoOf(result)).toBe(
        "what served before (vLLM 0.32.0) serves again; the next `pulumi up` tries the new one again",
      );
      expect(host.calls).toEqual([
        "observe",
        "fetch stop start wait",
        "observe",
        "stop",
        "observe",
        "stop return",
      ]);
      expect((await host.observe()).servers[0]?.server).toMatchObject({
        status: "ready",
        launch: { fingerprint: before },
      });
      expect(result).toMatchObject({ wished: expect.not.stringMatching(before ?? "") });
    });

    it("is told with why what served before does not start again either", async () => {
      const host = (await serving()).waiting({ outcome: "fatal", line: "boom" });
      const { result } = await run(host, update, newer);
      expect(failureOf(result)).toEqual({ code: "START_FAILED", touched: true });
      expect(alsoOf(result)).toMatch(
        /^what served before \(vLLM 0\.32\.0\) could not be started again: Cannot start /,
      );
      expect(host.calls.slice(-2)).toEqual(["observe", "stop"]);
      expect((await host.observe()).servers[0]?.server.status).toBe("stopped");
    });

    it("brings back what served before when the host refuses the start after it was stopped", async () => {
      const host = new ToldHost();
      await run(host);
      host.calls.length = 0;
      const taken = { code: "PORT_IN_USE", summary: "Cannot listen", retryable: false } as const;
      host.failing(new VllmServerError(taken), "start");
      const { result } = await run(host, update, newer);
      expect(failureOf(result)).toEqual({ code: "PORT_IN_USE", touched: true });
      expect(alsoOf(result)).toMatch(/^what served before .* serves again/);
      expect(host.calls.slice(-1)).toEqual(["stop return"]);
    });

    it.each<[string, Partial<Spec>]>([
      ["that is not wished", { ...newer, update: { returnToLastGood: false } }],
      ["it is the very declaration that failed", { environment: { A: "b" } }],
    ])("stays stopped where %s", async (_why, wishes) => {
      const host = new ToldHost();
      await run(host, {}, "environment" in wishes ? wishes : {});
      host.crash();
      host.waiting(exited);
      host.calls.length = 0;
      const { result } = await run(host, update, wishes);
      expect(alsoOf(result)).toBeUndefined();
      expect(host.calls.slice(-2)).toEqual(["observe", "stop"]);
    });
  });

  it("tries the end of a failed start again when the connection breaks", async () => {
    const host = new ToldHost().waiting({ outcome: "fatal", line: "boom" }).failing(lost);
    const { result } = await run(host);
    expect(failureOf(result)).toEqual({ code: "START_FAILED", touched: true });
    expect(host.calls).toEqual(["observe", "claim fetch start wait", "observe", "stop", "observe", "stop"]);
  });

  it("tells both when a start fails and what is left of it cannot be ended", async () => {
    const host = new ToldHost().waiting({ outcome: "fatal", line: "boom" }).failing(held);
    const { result } = await run(host);
    expect(failureOf(result)).toEqual({ code: "START_FAILED", touched: true });
    expect(result).toMatchObject({
      error: { details: { also: expect.stringContaining("Cannot free GPU 0") } },
    });
  });

  it("does not call a server ready that died as soon as it was: it starts it once more", async () => {
    const host = new ToldHost().dyingOnceReady();
    const { result, said } = await run(host);
    expect(result).toMatchObject({ kind: "converged", observed: { server: { status: "ready" } } });
    expect(said[1]).toBe(
      'Cannot keep server "kimi" on gpu1 running: it was ready, and then it died (signal 9); ' +
        "the work on the host goes on, looking again",
    );
    expect(host.calls).toEqual([
      "observe",
      "claim fetch start wait",
      "observe",
      "observe",
      "fetch stop start wait",
      "observe",
      "confirm",
    ]);
  });

  it("updates no server that another resource has taken over and confirmed; one that is not confirmed it takes back", async () => {
    const theirs = { ...owner, claimId: "fee1", project: "lab", stack: "dev" };
    const host = new ToldHost({ owner: theirs });
    const { result } = await run(host, { verb: "update", serverId: SERVER_ID });
    expect(failureOf(result)).toEqual({ code: "SERVER_REPLACED", touched: false });
    expect(result).toMatchObject({
      error: {
        details: {
          summary: 'Cannot update server "kimi" on gpu1: a newer resource has taken it over (lab/dev, kimi)',
        },
      },
    });
    expect(host.calls).toEqual(["observe"]);
    const open = new ToldHost({ owner: { ...theirs, confirmed: false } });
    expect((await run(open, { verb: "update", serverId: SERVER_ID })).result.kind).toBe("converged");
    expect(open.calls[1]).toBe("claim fetch start wait");
  });

  it("says what befell a server before it repairs it", async () => {
    const host = new ToldHost();
    await run(host);
    host.crash();
    const { said, result } = await run(host, { verb: "update", serverId: "kimi-new00000" });
    expect(result.kind).toBe("converged");
    expect(said[0]).toBe("found: it died (signal 9) (log /1.log)");
    expect(host.calls.slice(-3)).toEqual(["observe", "fetch stop start wait", "observe"]);
  });
});
