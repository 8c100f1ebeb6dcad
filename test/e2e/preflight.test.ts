import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import type { PulumiResult } from "../support/pulumi-cli";

/** What speaks against a start is told before anything is stopped for it, all of it at once. */

const FALLEN = "NVRM: Xid (PCI:0000:41:00): 94, pid=4711, name=python3, Contained: SM (0x1)";

let bed: GpuHost;
let tiny: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  bed = await gpuHost();
  tiny = await bed.tinyServer(1);
  const folder = dirname(bed.nvidiaSmi);
  const place = join(folder, "gpus.json");
  const machine: Readonly<Record<string, unknown>> = JSON.parse(readFileSync(place, "utf8"));
  const gpus = [{ isPersistent: false, uncorrectedErrors: 3 }, {}];
  // A driver that is too old for one of the questions.
  writeFileSync(place, JSON.stringify({ ...machine, gpus, unknownFields: ["retired_pages.pending"] }));
  writeFileSync(join(folder, "dmesg"), `#!/bin/sh\necho "[  1.0] ${FALLEN}"\n`);
  chmodSync(join(folder, "dmesg"), 0o755);
});

afterAll(async () => {
  await bed.close();
});

/** What stays on the resource's line, in the order in which it came. */
function told({ events }: PulumiResult, severity: string): readonly string[] {
  return events.flatMap(({ diagnosticEvent: event }) =>
    event?.severity === severity && event.ephemeral !== true && event.urn?.endsWith("::tiny") === true
      ? [event.message.trim()]
      : [],
  );
}

const leader = async (): Promise<unknown> => (await bed.project.servers())[0]?.outputs?.["pid"];

describe("before a start", () => {
  it("warnings and notes are told, each once, and it starts", async () => {
    await bed.declare({ tiny });
    const up = await bed.project.up();
    expect(up.code).toBe(0);
    expect(told(up, "warning")).toEqual([
      "GPU 0 counted memory errors that ECC could not correct since the driver was loaded (uncorrected errors: 3); " +
        "change: on the host, when nobody computes there: sudo nvidia-smi -i 0 --gpu-reset   (or other gpus)",
      `GPU 0: memory error that ECC could not correct (Xid 94) since the boot of the host (${FALLEN}); ` +
        "change: on the host: reset the GPU (sudo nvidia-smi --gpu-reset), or reboot; other gpus if it comes again",
    ]);
    expect(
      told(up, "info").filter((line) => line.startsWith("persistence mode of GPU 0 is off")),
    ).toHaveLength(1);
  });

  it("nothing of it is told where nothing is started: no change, or one that needs no restart", async () => {
    for (const inputs of [tiny, { ...tiny, service: { restart: { max: 2 } } }]) {
      await bed.declare({ tiny: inputs });
      const up = await bed.project.up();
      expect([up.code, told(up, "warning"), told(up, "info").filter((line) => /GPU/.test(line))]).toEqual([
        0,
        [],
        [],
      ]);
    }
  });

  it("five things that stand in the way are one error, and what runs is not touched", async () => {
    const pid = await leader();
    const rival = createServer();
    await new Promise<void>((resolve) => rival.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      rival.close();
    });
    const address = rival.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    await bed.declare({
      tiny: {
        ...tiny,
        listen: { port },
        gpus: [0, 7],
        quantizationConfigOverrides: { group_size: 32 },
        extraArgs: { "swap-space": 4, "stream-interval": "often" },
      },
    });
    const up = await bed.project.up();
    expect(up.code).not.toBe(0);
    const errors = told(up, "error");
    expect(errors).toHaveLength(1);
    const lines = (errors[0] ?? "").split("\n").map((line) => line.trim());
    expect(lines[0]).toMatch(/Cannot start server "tiny" on 127\.0\.0\.1: 5 things stand in the way$/);
    expect(lines.filter((line) => /^\d\. /.test(line)).map((line) => line.slice(0, 60))).toEqual([
      expect.stringMatching(/^1\. the config of \S+\/tiny cannot be patched/),
      expect.stringMatching(/^2\. listen\.port: port \d+ is taken by process \d+/),
      "3. gpus: no GPU 7 on the host, it has 0 GPU-5ca1ab1e-0000-40",
      '4. extraArgs["swap-space"]: vLLM 0.32.0 does not know --swap',
      '5. vLLM 0.32.0 would refuse extraArgs["stream-interval"]: fo',
    ]);
    expect(lines).toContain('change: extraArgs["swap-space"]   (removed in vLLM 0.18.0)');
    expect(bed.processes().some((process) => process.pid === pid)).toBe(true);
    await bed.declare({ tiny });
    expect((await bed.project.up()).code).toBe(0);
    expect(await leader()).toBe(pid);
  });
});
