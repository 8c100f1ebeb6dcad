import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { eventually } from "../support/eventually";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { freePort } from "../support/free-port";

/** A server that dies while no CLI runs is its supervisor's business. */

let bed: GpuHost;
let port: number;
let inputs: Readonly<Record<string, unknown>>;
const outputs = async (): Promise<Readonly<Record<string, unknown>>> =>
  (await bed.project.servers())[0]?.outputs ?? {};
const answers = (): Promise<true | null> =>
  fetch(`http://127.0.0.1:${String(port)}/health`).then(
    ({ status }) => (status === 200 ? true : null),
    () => null,
  );

beforeAll(async () => {
  bed = await gpuHost();
  port = await freePort("127.0.0.1");
  inputs = {
    model: { path: writeCheckpoint(join(bed.folder, "tiny"), { "config.json": TINY_LLAMA }) },
    vllm: { executable: bed.executable },
    listen: { port },
    service: { restart: { max: 1, delaySeconds: 0.5 } },
  };
  await bed.declare({ tiny: inputs });
  expect((await bed.project.up()).code).toBe(0);
});

afterAll(async () => {
  await bed.close();
});

describe("a server whose API server is killed", () => {
  it("comes back by itself, which refresh tells and which is no drift", async () => {
    const before = await outputs();
    process.kill(Number(before["pid"]), "SIGKILL");
    await eventually("another process answers", async () => {
      const isOther = bed
        .processes()
        .some(({ command, pid }) => / serve /.test(command) && pid !== before["pid"]);
      return isOther ? answers() : null;
    });
    const refresh = await bed.project.refresh();
    expect(refresh.stdout).toContain("it died (signal 9) and came back by itself (1 automatic restart since");
    const after = await outputs();
    expect(after).toEqual({
      ...before,
      // Its key is encrypted anew each time.
      host: after["host"],
      generation: 2,
      restarts: 1,
      pid: after["pid"],
      startedAt: after["startedAt"],
      logPath: String(before["logPath"]).replace("1.log", "2.log"),
    });
    expect((await bed.project.preview(["--expect-no-changes"])).code).toBe(0);
  });

  it("is given up at the limit with its GPUs free, which refresh tells with its exits", async () => {
    process.kill(Number((await outputs())["pid"]), "SIGKILL");
    await eventually("nothing of it is left", () => (bed.processes().length === 0 ? true : null));
    expect(bed.gpuMemoryMib()).toEqual(Array(8).fill(bed.idleMib));
    expect(bed.sharedMemory()).toEqual([]);
    const words = "crash-looping: given up after 1 automatic restart; first failure (start 1, signal 9, ";
    expect((await bed.project.refresh()).stdout).toContain(words);
    const after = await outputs();
    expect(after).toMatchObject({ status: "crash-looping", pid: null });
    expect(after["drift"]).toEqual([
      expect.stringMatching(/^status: crash-looping: .*; last failure \(start 2, signal 9, .*\): the same$/),
    ]);
    const up = await bed.project.up();
    expect(up.stdout).toContain(`found: ${words}`);
    expect(await outputs()).toMatchObject({ status: "ready", generation: 3, restarts: 0 });
  });

  it("is found without its supervisor when that was killed, and started anew by the next up", async () => {
    const pid = Number((await outputs())["pid"]);
    const supervisor = bed.processes().find((process) => process.pid === pid)?.parent ?? 0;
    process.kill(supervisor, "SIGKILL");
    await eventually("it is an orphan", () =>
      bed.processes().find((process) => process.pid === pid)?.parent === supervisor ? null : true,
    );
    expect((await bed.project.refresh()).stdout).toContain("its supervisor is gone and processes are left");
    expect(await outputs()).toMatchObject({ status: "orphaned" });
    expect((await bed.project.up()).code).toBe(0);
    expect(await outputs()).toMatchObject({ status: "ready", generation: 4, restarts: 0, drift: [] });
    expect(bed.processes().some((process) => process.pid === pid)).toBe(false);
  });
});
