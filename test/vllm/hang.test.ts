import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeBed, type Bed } from "../support/bed";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { eventually } from "../support/eventually";
import { freePort } from "../support/free-port";
import { realVllm, SMALL_SERVER } from "../support/real-vllm";

/** A worker of the real vLLM 0.32.0 that takes no step any more: while it loads, and after it was ready. */

const STALL_SECONDS = 30;
let bed: Bed;

const outputs = async (): Promise<Readonly<Record<string, unknown>>> =>
  (await bed.project.servers())[0]?.outputs ?? {};

beforeAll(async () => {
  bed = await makeBed();
  const { engine, extraArgs, environment, timeouts } = SMALL_SERVER;
  await bed.declare({
    tiny: {
      ...SMALL_SERVER,
      model: { path: writeCheckpoint(join(bed.folder, "tiny"), { "config.json": TINY_LLAMA }) },
      vllm: { executable: realVllm() },
      engine: { ...engine, loadFormat: "dummy" },
      extraArgs: { ...extraArgs, "skip-tokenizer-init": true },
      // The engine says that it waits after so many seconds, and not after a minute.
      environment: { ...environment, VLLM_RINGBUFFER_WARNING_INTERVAL: "5" },
      listen: { port: await freePort("127.0.0.1") },
      timeouts: { ...timeouts, stall: STALL_SECONDS },
    },
  });
});

afterAll(async () => {
  await bed.close();
});

/** Once it has its title; before it has loaded anything. */
async function freezeWorker(): Promise<void> {
  const worker = await eventually(
    "a worker runs",
    () => bed.processes().find(({ command }) => /^VLLM::Worker/.test(command)) ?? null,
    120,
  );
  process.kill(worker.pid, "SIGSTOP");
}

it("a worker that stops while it loads is a start that hangs, although the engine says so every few seconds", async () => {
  const up = bed.project.start("up");
  await freezeWorker();
  const { code, stdout } = await up.result;
  expect(code).not.toBe(0);
  expect(stdout).toMatch(
    /Cannot start server "tiny" on \S+: it hangs while ".*": no sign of life for \d+ s, need/,
  );
  expect(stdout).toMatch(/also: .*VLLM::Worker \(pid \d+\) waits in \w+ \(state T\)/);
  expect(bed.processes()).toEqual([]);
  expect(bed.sharedMemory()).toEqual([]);
});

it("the same start, longer than that bound as it may be, is slow and alive", async () => {
  const { code, stdout } = await bed.project.up();
  expect(code, stdout).toBe(0);
  expect(await outputs()).toMatchObject({ status: "ready", drift: [] });
});

it("a worker that stops after ready is a hang, told with what the engine says of it, and up repairs it", async () => {
  const { generation } = await outputs();
  await freezeWorker();
  const refresh = await bed.project.refresh();
  const { status, drift } = await outputs();
  expect(status, refresh.stdout).toBe("hung");
  expect(drift).toEqual([
    expect.stringMatching(
      /^status: it hangs: it answers no token while \/health is 200 \(.*meanwhile it worked for nobody.*\); VLLM::Worker \(pid \d+\) waits in \w+ \(state T\); its log: a worker has not taken its next step for 5 s and more - proof: No available shared memory broadcast block found in 5 seconds/,
    ),
  ]);
  expect((await bed.project.up()).code).toBe(0);
  expect(await outputs()).toMatchObject({ status: "ready", generation: Number(generation) + 1, drift: [] });
});
