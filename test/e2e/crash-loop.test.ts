import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually";
import { gpuHost, type GpuHost } from "../support/gpu-host";

/** A server that dies after each automatic restart, and what it leaves to read. */

const MIB = 1024 * 1024;

let bed: GpuHost;
/** How many starts there were: STAND_IN_FAIL holds for those below STAND_IN_FAIL_TIMES. */
let counter: string;
const outputs = async (): Promise<Readonly<Record<string, unknown>>> =>
  (await bed.project.servers())[0]?.outputs ?? {};

beforeAll(async () => {
  bed = await gpuHost();
  counter = join(bed.folder, "starts");
  startsWork();
  const tiny = await bed.tinyServer(1);
  const restart = { max: 2, delaySeconds: 0.2 };
  await bed.declare({
    tiny: {
      ...tiny,
      environment: {
        STAND_IN_START_SECONDS: "1",
        STAND_IN_FAIL: "oom",
        STAND_IN_FAIL_TIMES: "50",
        STAND_IN_COUNTER: counter,
      },
      service: { manager: "process", restart, logs: { keep: 2, maxBytes: MIB } },
    },
  });
  const up = await bed.project.up();
  expect(up.code, up.stdout).toBe(0);
});

afterAll(async () => {
  await bed.close();
});

function startsWork(): void {
  writeFileSync(counter, "50");
}

function startsFail(): void {
  writeFileSync(counter, "0");
}

describe("the log of a server that prints without end", () => {
  it("stays below its bound while it grows, and has its first and its newest lines", async () => {
    const { logPath, url } = await outputs();
    const path = String(logPath);
    const begin = readFileSync(path, "utf8").split("\n", 2);
    for (let round = 1; round <= 4; round += 1) {
      for (let request = 1; request <= 200; request += 1)
        await fetch(`${String(url)}/round-${String(round)}-${String(request)}-${"x".repeat(4000)}`);
      await eventually("it is below its bound", () => (statSync(path).size <= MIB ? true : null));
    }
    const text = readFileSync(path, "utf8");
    expect(text.split("\n", 2)).toEqual(begin);
    expect(text).toMatch(
      /^\[pulumi-vllm: \d+ lines \(\d+ bytes\) were taken out here, the next is line \d+; /m,
    );
    expect(text).toContain("round-4-200-");
    expect(text).not.toContain("round-2-100-");
  });
});

describe("a server that dies again after each restart", () => {
  it("is crash-looping in the end, with its GPUs free, and refresh says why the first and the last one died", async () => {
    startsFail();
    process.kill(Number((await outputs())["pid"]), "SIGKILL");
    await eventually("nothing of it is left", () => (bed.processes().length === 0 ? true : null));
    expect(bed.gpuMemoryMib()).toEqual(Array(8).fill(bed.idleMib));
    expect(bed.sharedMemory()).toEqual([]);

    const refresh = await bed.project.refresh();
    const after = await outputs();
    expect(after).toMatchObject({ status: "crash-looping", pid: null, generation: 3, restarts: 2 });
    const [words] = after["drift"] as readonly string[];
    expect(words).toMatch(/^status: crash-looping: given up after 2 automatic restarts; /);
    expect(words).toMatch(
      /; first failure \(start 1, signal 9, [0-9:]+Z\): a process was killed without a word/,
    );
    expect(words).toMatch(
      /; last failure \(start 3, exit code 1, [0-9:]+Z\): the GPU has too little memory .* - proof: torch.OutOfMemoryError: CUDA out of memory.* \(log line \d+\), change: engine/,
    );
    expect(refresh.stdout).toContain("crash-looping: given up after 2 automatic restarts");
  });

  it("has the logs of the first and of the last of its failures", async () => {
    const folder = dirname(String((await outputs())["logPath"]));
    expect(readdirSync(folder).filter((name) => name.endsWith(".log"))).toEqual(["1.log", "3.log"]);
  });

  it("is started again by the next up, which says what it found", async () => {
    startsWork();
    const up = await bed.project.up();
    expect(up.stdout).toContain(
      "found: crash-looping: given up after 2 automatic restarts; first failure (start 1",
    );
    expect(await outputs()).toMatchObject({ status: "ready", generation: 4, restarts: 0, drift: [] });
  });
});
