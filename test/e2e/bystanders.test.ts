import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { eventually } from "../support/eventually";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { freePort } from "../support/free-port";

/** The incident began with a pattern that matched the shell it was typed into. Names must mean nothing. */

let bed: GpuHost;
let bystanders: readonly ChildProcess[] = [];

beforeAll(async () => {
  bed = await gpuHost();
  // Shells and programs whose command lines look like vLLM's, as the same user, in sessions of their own and not.
  const lookAlike =
    "python3 -m vllm serve vllm VLLM::EngineCore python3.11 vllm.entrypoints VLLM::Worker_TP0";
  bystanders = [
    spawn("/bin/sh", ["-c", `: ${lookAlike}; read line`], { stdio: ["pipe", "ignore", "ignore"] }),
    spawn("/bin/sh", ["-c", `: ${lookAlike}; read line`], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    }),
  ];
});

afterAll(async () => {
  for (const shell of bystanders) shell.kill("SIGKILL");
  await bed.close();
});

describe("processes that look like vLLM", () => {
  it("live through a whole life of a server: up, crash with orphans, healing, destroy", async () => {
    await bed.declare({
      vllm: {
        model: { path: writeCheckpoint(join(bed.folder, "python3-vllm"), { "config.json": TINY_LLAMA }) },
        vllm: { executable: bed.executable },
        listen: { port: await freePort("127.0.0.1") },
        service: { restart: { max: 0 } },
      },
    });
    expect((await bed.project.up()).code).toBe(0);
    const pid = Number((await bed.project.servers())[0]?.outputs?.["pid"]);
    expect(bed.sharedMemory()).toHaveLength(2);
    const supervisor = bed.processes().find((process) => process.pid === pid)?.parent ?? 0;
    process.kill(supervisor, "SIGKILL");
    process.kill(pid, "SIGKILL");
    await eventually("orphans are left", () =>
      bed.processes().length > 0 && !bed.processes().some((process) => process.pid === pid) ? true : null,
    );
    const refresh = await bed.project.refresh();
    expect(refresh.stdout).toContain("its supervisor is gone and processes are left");
    expect((await bed.project.up()).code).toBe(0);
    expect(bed.processes().filter(({ command }) => command.includes("VLLM::EngineCore"))).toHaveLength(1);
    expect((await bed.project.destroy()).code).toBe(0);
    expect(bed.processes()).toEqual([]);
    expect(bed.sharedMemory()).toEqual([]);
    expect(bystanders.map((shell) => [shell.exitCode, shell.signalCode])).toEqual([
      [null, null],
      [null, null],
    ]);
  });

  it("keep a shared-memory file that one of them has open", async () => {
    const name = "/dev/shm/psm_0badcafe";
    const holder = spawn("python3", ["-c", `f = open("${name}", "w"); print(1, flush=True); input()`], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    await once(holder.stdout, "data");
    try {
      await bed.declare({
        tiny: {
          model: { path: join(bed.folder, "python3-vllm") },
          vllm: { executable: bed.executable },
          listen: { port: await freePort("127.0.0.1") },
        },
      });
      expect((await bed.project.up()).code).toBe(0);
      expect((await bed.project.destroy()).code).toBe(0);
      expect(bed.sharedMemory()).toEqual([]);
      expect(existsSync(name)).toBe(true);
    } finally {
      holder.kill("SIGKILL");
      await once(holder, "exit");
      rmSync(name);
    }
  });
});
