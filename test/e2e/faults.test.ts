import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { HostProcess } from "../support/host-processes";
import { eventually } from "../support/eventually";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { commandOf, descendantsOf, killQuietly, startOf } from "../support/process-tree";
import type { RunningPulumi, StateResource } from "../support/pulumi-cli";

/** What can go wrong around a server: nothing is lost, nothing is left, nobody else is hurt, and the next run goes on. */

let bed: GpuHost;
let tiny: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  bed = await gpuHost();
  tiny = await bed.tinyServer(1);
});

afterAll(async () => {
  await bed.close();
});

const apiServers = (): readonly HostProcess[] =>
  bed.processes().filter(({ command }) => / serve /.test(command));
const starting = (): Promise<HostProcess> => eventually("an API server runs", () => apiServers()[0] ?? null);
const outputs = async (): Promise<Readonly<Record<string, unknown>>> =>
  (await bed.project.servers())[0]?.outputs ?? {};

async function destroyWhole(): Promise<void> {
  expect((await bed.project.destroy()).code).toBe(0);
  expect({ processes: bed.processes(), folders: bed.serverFolders() }).toEqual({
    processes: [],
    folders: [],
  });
}

/** What stands in state in the clear: ciphertext changes with every write. */
function plain(resource: StateResource | undefined): unknown {
  const { environment: _, host: __, ...others } = resource?.outputs ?? {};
  return { id: resource?.id, ...others };
}

function said(running: RunningPulumi, pattern: RegExp): Promise<void> {
  return new Promise((resolve) => {
    let text = "";
    running.output.on("data", (chunk) => {
      text += String(chunk);
      if (pattern.test(text)) resolve();
    });
  });
}

/** The next up finds the process that an earlier one started, and starts no other. */
async function upTakesUp(pid: number): Promise<void> {
  expect((await bed.project.up()).code).toBe(0);
  expect(await outputs()).toMatchObject({ status: "ready", pid, generation: 1 });
  expect(apiServers().map((process) => process.pid)).toEqual([pid]);
}

describe("a start that loses its agent or its CLI", () => {
  it("goes on when the agent is killed: up says what to do, and the next one takes it up", async () => {
    await bed.declare({ orphaned: tiny });
    const up = bed.project.start("up");
    const { pid } = await starting();
    for (const one of descendantsOf(bed.sshd.pid)) if (/-I -S -X utf8/.test(commandOf(one))) killQuietly(one);
    const { code, stdout } = await up.result;
    expect(code).not.toBe(0);
    expect(stdout).toMatch(
      /Cannot read the agent's reply from \S+: it ended without a result, need a whole one/,
    );
    expect(stdout).toContain(
      "change: run it again: what was done stays, and the next run goes on from there",
    );
    await upTakesUp(pid);
    await destroyWhole();
  });

  it("goes on when ^C is pressed twice, and the next up takes it over", async () => {
    await bed.declare({ interrupted: tiny });
    const up = bed.project.start("up");
    const { pid } = await starting();
    const heard = said(up, /\^C received/);
    up.kill("SIGINT");
    await heard;
    up.kill("SIGINT");
    const pressed = Date.now();
    expect((await up.result).code).not.toBe(0);
    expect(Date.now() - pressed).toBeLessThan(10_000);
    await eventually("no connection is left", () => (descendantsOf(bed.sshd.pid).length === 0 ? true : null));
    await bed.project.cancel();
    await upTakesUp(pid);
    await destroyWhole();
  });
});

describe("a host that must not be trusted", () => {
  it("shows another key than before: refresh and destroy fail, and what is in state stays as it was", async () => {
    const knownHostsFile = join(bed.folder, "known_hosts");
    const known = readFileSync(bed.sshd.knownHostsPath, "utf8");
    const { hostKey: _, ...host } = bed.host;
    writeFileSync(knownHostsFile, known);
    await bed.declare({ suspect: { ...tiny, host: { ...host, knownHostsFile } } });
    expect((await bed.project.up()).code).toBe(0);
    const before = (await bed.project.servers())[0];
    const stranger = "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";
    writeFileSync(knownHostsFile, `[${bed.sshd.address}]:${String(bed.sshd.port)} ssh-ed25519 ${stranger}\n`);
    for (const verb of ["refresh", "destroy"] as const) {
      const { code, stdout, seconds } = await bed.project[verb]();
      expect(code).not.toBe(0);
      expect(stdout).toMatch(
        /Cannot trust host \S+: it shows ssh-ed25519 key SHA256:\S+, need the known ssh-ed25519/,
      );
      expect(stdout).toMatch(/change: if the machine was set up anew: ssh-keygen -R/);
      // Once, with the resource; the stack only says where to look.
      expect(stdout).not.toContain("Error: Cannot trust host");
      expect(stdout).toContain("VllmServer suspect: it failed, and the reason stands with it");
      expect(seconds).toBeLessThan(30);
      const after = (await bed.project.servers())[0];
      expect(plain(after)).toEqual(plain(before));
    }
    writeFileSync(knownHostsFile, known);
    await destroyWhole();
  });
});

describe("a record that no longer tells the truth", () => {
  it("of another boot: the server is started again, and whoever has its numbers now is left alone", async () => {
    const bystander = spawn("/bin/sh", ["-c", "read line"], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    onTestFinished(() => {
      bystander.kill("SIGKILL");
    });
    const pid = bystander.pid ?? 0;
    await bed.declare({ rebooted: tiny });
    expect((await bed.project.up()).code).toBe(0);
    const recordPath = join(String((await outputs())["logPath"]), "../../run.json");
    const record: Readonly<Record<string, unknown>> = JSON.parse(readFileSync(recordPath, "utf8"));
    // As after a power failure: all gone at once, memory too, and the numbers given to somebody else.
    const sharedMemory = bed.sharedMemory();
    for (const process of bed.processes()) killQuietly(process.pid);
    for (const path of sharedMemory) rmSync(path, { force: true });
    const numbers = { pid, startTicks: Number(startOf(pid)) };
    const forged = {
      leader: numbers,
      supervisor: numbers,
      sessions: [{ sid: pid, startTicks: numbers.startTicks, generation: 1 }],
    };
    writeFileSync(recordPath, JSON.stringify({ ...record, ...forged, bootId: "of-another-boot" }));
    expect((await bed.project.refresh()).code).toBe(0);
    expect(await outputs()).toMatchObject({ status: "rebooted" });
    expect((await bed.project.up()).code).toBe(0);
    expect(await outputs()).toMatchObject({ status: "ready", generation: 2 });
    // The same boot, but the numbers were used again: started later than the record says.
    expect(bed.sharedMemory()).toHaveLength(2);
    for (const process of bed.processes()) killQuietly(process.pid);
    const reused = { pid, startTicks: numbers.startTicks - 1 };
    const again: Readonly<Record<string, unknown>> = JSON.parse(readFileSync(recordPath, "utf8"));
    const sessions = [{ sid: pid, startTicks: reused.startTicks, generation: 2 }];
    writeFileSync(recordPath, JSON.stringify({ ...again, leader: reused, supervisor: reused, sessions }));
    await destroyWhole();
    expect(bed.sharedMemory()).toEqual([]);
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
  });
});
