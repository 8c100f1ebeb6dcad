import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runningServers, type Running } from "../support/changes-by-hand";
import { eventually } from "../support/eventually";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { commandOf, descendantsOf, killQuietly } from "../support/process-tree";
import type { PulumiResult } from "../support/pulumi-cli";

/** Slow is not hung; and after ready, an engine that died, a hang, a server that is deaf and one that is busy are different things. */

let bed: GpuHost;

beforeAll(async () => {
  bed = await gpuHost();
});

afterAll(async () => {
  await bed.close();
}, 300_000);

describe("a start that prints nothing", () => {
  it("fails when it hangs: up says where, what its processes wait in and what helps, and nothing is left", async () => {
    const stuck = await bed.tinyServer();
    // With an argument that it does not read: what is told of the failure holds the word "hang", and values are secret.
    const environment = { STAND_IN_START_SECONDS: "1", STAND_IN_FAIL: "hang=loading" };
    await bed.declare({ stuck: { ...stuck, environment, timeouts: { stall: 3 } } });
    const { code, stdout, seconds } = await bed.project.up();
    expect(code).not.toBe(0);
    expect(stdout).toMatch(
      /Cannot start server "stuck" on \S+: it hangs while "loading weights \d+ % \(\d\/1 shards\)": no sign of life for 5 s, need progress/,
    );
    expect(stdout).toMatch(/proof: +Loading safetensors checkpoint shards: .*\(last line of its log\)/);
    expect(stdout).toMatch(
      /change: host: look whether the file system of the model answers .*; timeouts\.stall where it is only slow/,
    );
    expect(stdout).toMatch(
      /also: +VLLM::EngineCore \(pid \d+\) waits in [\w.]+ \(state S\); VLLM::Worker \(pid \d+\) waits in \w*nanosleep \(state S\); API server/,
    );
    expect(seconds).toBeLessThan(60);
    expect([bed.processes(), bed.sharedMemory()]).toEqual([[], []]);
    expect(bed.gpuMemoryMib()).toEqual(Array(8).fill(bed.idleMib));
  });

  it("is waited for while it is alive, however much longer than that it takes", async () => {
    const slow = await bed.tinyServer(12);
    await bed.declare({ slow: { ...slow, timeouts: { stall: 8 } } });
    const { code, stdout } = await bed.project.up();
    expect(code, stdout).toBe(0);
    expect(Number((await runningServers(bed)).get("slow")?.outputs["startDurationSeconds"])).toBeGreaterThan(
      8,
    );
  });
});

// prettier-ignore
const FAILS = {
  hung: "hang-after-ready", busy: "busy", deaf: "deaf-after-ready", headless: "", died: "", restarted: "",
} as const;
type Name = keyof typeof FAILS;

describe("a server that was ready", () => {
  let before: ReadonlyMap<string, Running>;
  let seen: ReadonlyMap<string, Running>;
  let after: ReadonlyMap<string, Running>;
  let refresh: PulumiResult;
  let up: PulumiResult;
  const of = (servers: ReadonlyMap<string, Running>, name: Name): Readonly<Record<string, unknown>> =>
    servers.get(name)?.outputs ?? {};

  beforeAll(async () => {
    const declared: Record<string, Readonly<Record<string, unknown>>> = {};
    for (const [name, fail] of Object.entries(FAILS))
      declared[name] = {
        ...(await bed.tinyServer()),
        service: {
          manager: "process",
          restart: { max: name === "died" ? 0 : 3, delaySeconds: 0.2 },
        },
        environment: {
          STAND_IN_START_SECONDS: "0.3",
          STAND_IN_STOP_SECONDS: "0",
          STAND_IN_DEATH_SECONDS: "0",
          STAND_IN_FAIL: fail,
          ...(name === "headless" ? { VLLM_KEEP_ALIVE_ON_ENGINE_DEATH: "1" } : {}),
        },
      };
    await bed.declare(declared);
    const created = await bed.project.up();
    expect(created.code, created.stdout).toBe(0);
    before = await runningServers(bed);
    // As the kernel's OOM killer does it.
    for (const name of ["headless", "died", "restarted"] as const) endWorkerOf(of(before, name));
    await settled();
    refresh = await bed.project.refresh();
    seen = await runningServers(bed);
    up = await bed.project.up();
    after = await runningServers(bed);
  }, 600_000);

  function endWorkerOf({ pid }: Readonly<Record<string, unknown>>): void {
    const worker = descendantsOf(Number(pid)).find((one) => /VLLM::Worker/.test(commandOf(one)));
    expect(worker).toBeDefined();
    killQuietly(worker ?? 0);
  }

  /** Until what was killed is gone, and what is started again listens. */
  async function settled(): Promise<void> {
    const url = String(of(before, "restarted")["url"]);
    const isGone = (name: Name): boolean =>
      bed.processes().every(({ pid }) => pid !== of(before, name)["pid"]);
    await eventually("they are gone", () => (isGone("died") && isGone("restarted") ? true : null));
    await eventually("it is back", async () => {
      const answer = await fetch(`${url}/health`).catch(() => null);
      return answer?.status === 200 ? true : null;
    });
  }

  it.each<[Name, string, RegExp]>([
    [
      "hung",
      "hung",
      /^status: it hangs: it answers no token while \/health is 200 \(POST \/v1\/completions: timed out; meanwhile it worked for nobody\); its log: a worker has not taken its next step for 60 s and more - proof: No available shared memory .* \(log line \d+\), change: extraArgs/,
    ],
    ["deaf", "unresponsive", /^status: its process lives but does not listen on port \d+$/],
    [
      "headless",
      "unresponsive",
      /^status: its engine is dead while its API server lives on \(\/health is 503\); its log: the kernel killed a vLLM process for want of host memory .*\(log line \d+\), change: host: more memory/,
    ],
    [
      "died",
      "crashed",
      /^status: it died \(exit code 0\): the kernel killed a vLLM process for want of host memory .*, change: host: more memory/,
    ],
  ])("%s is %s, with its cause, and up starts it anew", (name, status, words) => {
    expect(of(seen, name)).toMatchObject({ status, drift: [expect.stringMatching(words)] });
    expect(refresh.stdout).toContain(String([of(seen, name)["drift"]].flat()[0]).slice(0, 60));
    expect(of(after, name)).toMatchObject({ generation: 2, restarts: 0 });
    expect(up.stdout).toContain(`found: ${String([of(seen, name)["drift"]].flat()[0]).slice(8, 60)}`);
  });

  it("that came back by itself is ready, and refresh says why it had died", () => {
    expect(of(seen, "restarted")).toMatchObject({ status: "ready", generation: 2, restarts: 1, drift: [] });
    expect(refresh.stdout).toMatch(
      /it died \(exit code 0\) and came back by itself \(1 automatic restart since it was last started\): the kernel killed/,
    );
  });

  it("and is busy is no hang: it is told, and the process stays", () => {
    expect(refresh.stdout).toMatch(
      /busy: POST \/v1\/completions: timed out; meanwhile it worked for others \(\d+ running, 24 waiting\)/,
    );
    const { pid } = of(before, "busy");
    expect(of(seen, "busy")).toMatchObject({ status: "ready", pid, drift: [] });
    expect(of(after, "busy")).toMatchObject({ status: "ready", pid, generation: 1 });
  });

  it("is repaired by one up", () => {
    expect([up.code, up.stdout]).toEqual([0, expect.stringContaining("~ 4 updated")]);
    expect(of(after, "hung")).toMatchObject({ status: "ready", drift: [] });
  });
});
