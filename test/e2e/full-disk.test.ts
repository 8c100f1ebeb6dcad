import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gpuHost, type GpuHost } from "../support/gpu-host";

/** HOME of the host on a disk of 1 MiB. Where nothing can be mounted, test/agent/test_full_disk.py stands for it. */

let bed: GpuHost;
let isMounted = false;
let disk = "";

beforeAll(async () => {
  bed = await gpuHost();
  disk = join(bed.home, ".local");
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", disk], { stdio: "pipe" });
    isMounted = true;
    mkdirSync(join(disk, "state/pulumi-vllm"), { recursive: true, mode: 0o700 });
  } catch {
    // no right to mount
  }
});

afterAll(async () => {
  if (isMounted) empty();
  try {
    if (isMounted) await bed.project.destroy();
  } finally {
    if (isMounted) execFileSync("umount", ["-l", disk]);
    await bed.close();
  }
});

const filler = (): string => join(disk, "filler");

function fill(): void {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(filler(), Buffer.alloc(bavail * bsize));
}

function empty(): void {
  rmSync(filler(), { force: true });
}

describe("a host whose disk is full", () => {
  it("starts nothing, keeps what runs, and lets go of it", async (context) => {
    context.skip(!isMounted, "no right to mount a small disk");
    const server = await bed.tinyServer(0.5);
    const full =
      /Cannot \S.*: the disk or quota is full \(\d+ bytes free\), need room\n.*\n\s+change: free space there, then try again/;
    await bed.declare({ full: server });
    fill();
    const refused = await bed.project.up();
    expect(refused.code).not.toBe(0);
    expect(refused.stdout).toMatch(full);
    expect({ processes: bed.processes(), folders: bed.serverFolders() }).toEqual({
      processes: [],
      folders: [],
    });

    empty();
    expect((await bed.project.up()).code).toBe(0);
    const { pid } = (await bed.project.servers())[0]?.outputs ?? {};
    fill();
    await bed.declare({ full: { ...server, engine: { maxModelLen: 64 } } });
    const changed = await bed.project.up();
    expect(changed.code).not.toBe(0);
    expect(changed.stdout).toMatch(full);
    expect((await bed.project.servers())[0]?.outputs).toMatchObject({ status: "ready", pid });

    fill();
    expect((await bed.project.destroy()).code).toBe(0);
    expect(bed.processes()).toEqual([]);
    expect(readdirSync(join(disk, "state/pulumi-vllm"))).toEqual(["host.lock"]);
  });
});
