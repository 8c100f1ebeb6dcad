import { describe, expect, it } from "vitest";
import { VllmServerError } from "../../provider/src/core/errors";
import { failureOf, run } from "../support/converging";
import { gpu, hubModel, observed, soundCondition } from "../support/host-facts";
import { ToldHost } from "../support/told-host";

const forgetful = { gpus: [gpu(0, { condition: { ...soundCondition, isPersistent: false } })] };
const NOTE =
  "persistence mode of GPU 0 is off: the driver loads anew whenever nobody uses the GPU, which takes seconds and forgets what it counted; " +
  "change: on the host: sudo systemctl enable --now nvidia-persistenced   (or sudo nvidia-smi -pm 1)";
const READY = "ready in 312 s: start 312; 131,072 tokens, KV cache bfloat16";
const update = { verb: "update", serverId: "kimi-new00000" } as const;
const taken = { free: false, pid: 77, user: "bob", command: "nginx", serverId: null } as const;

describe("what is found before a start", () => {
  it("is told before it, once, and not where nothing is started", async () => {
    const host = new ToldHost({}, forgetful);
    expect((await run(host)).said).toEqual([NOTE, READY]);
    expect((await run(host, update)).said).toEqual([]);
  });

  it("is told once although the host is looked at again after a download", async () => {
    const absent = { found: false, path: "nvidia/kimi", reason: "not downloaded" } as const;
    const host = new ToldHost({}, { ...forgetful, checkpoint: absent });
    const { said } = await run(host, {}, { model: hubModel() });
    expect(said.filter((text) => text === NOTE)).toEqual([NOTE]);
    expect(said[0]).toBe(NOTE);
  });

  it("is told once although the start is tried again", async () => {
    const host = new ToldHost({}, forgetful).dyingOnceReady();
    expect((await run(host)).said.filter((text) => text === NOTE)).toEqual([NOTE]);
  });

  it("tells of warnings of the declaration too", async () => {
    const { said } = await run(new ToldHost(), {}, { kvCacheDtype: "float16" });
    expect(said[0]).toBe(
      'kvCacheDtype is "float16" and the checkpoint is bfloat16: vLLM 0.33 and later refuse that',
    );
  });

  it("refuses a start with all that stands in its way: host, checkpoint, flags and values at once", async () => {
    const host = new ToldHost({}, { port: taken, gpus: [gpu(0, { memoryUsedMib: 9000 })] });
    const { result } = await run(
      host,
      {},
      {
        quantizationConfigOverrides: { a: 1 },
        extraArgs: { "swap-space": 4, "stream-interval": "often" },
      },
    );
    expect(failureOf(result)).toEqual({ code: "CONFIG_PATCH_REJECTED", touched: false });
    const error = result.kind === "failed" ? result.error : null;
    const { problems } = error instanceof VllmServerError ? error.details : {};
    expect(problems?.map(({ code, path }) => [code, path])).toEqual([
      ["CONFIG_PATCH_REJECTED", "quantizationConfigOverrides"],
      ["PORT_IN_USE", "listen.port"],
      ["GPUS_NOT_FREE", "gpus"],
      ["FLAG_UNKNOWN", 'extraArgs["swap-space"]'],
      ["INPUT_INVALID", 'extraArgs["stream-interval"]'],
    ]);
    expect(host.calls).toEqual(["observe"]);
  });

  it("is told without the flags where vLLM does not say which it knows", async () => {
    const executable = { found: true, path: "/v/vllm", version: "0.31.0" } as const;
    const host = new ToldHost({}, { port: taken, executable }).mute();
    expect(failureOf((await run(host)).result)).toEqual({ code: "PORT_IN_USE", touched: false });
    const free = new ToldHost({}, { executable }).mute();
    expect(failureOf((await run(free)).result)).toEqual({ code: "VLLM_NOT_FOUND", touched: false });
  });

  it("compares the host's clock with this machine's", async () => {
    const host = { ...observed().host, clockSeconds: Date.UTC(2026, 11, 1, 9) / 1000 };
    const { said } = await run(new ToldHost({}, { host }));
    expect(said[0]).toMatch(/^the host's clock is 60 min behind this machine's: /);
  });
});
