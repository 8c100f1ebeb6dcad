import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import type { PulumiResult } from "../support/pulumi-cli";
import { freePort } from "../support/free-port";

/** What a change of an input does to a server that runs. */

let bed: GpuHost;
let other: GpuHost;
let tiny: Readonly<Record<string, unknown>>;
let port: number;
const outputs = async (): Promise<Readonly<Record<string, unknown>>> =>
  (await bed.project.servers())[0]?.outputs ?? {};
const up = async (changes: Readonly<Record<string, unknown>>): Promise<PulumiResult> => {
  await bed.declare({ tiny: { ...tiny, ...changes } });
  return bed.project.up();
};
const statusFor = async (key: string): Promise<number> =>
  (await fetch(`http://127.0.0.1:${String(port)}/v1/models`, { headers: { authorization: `Bearer ${key}` } }))
    .status;
const inputsFor = (host: GpuHost): Readonly<Record<string, unknown>> => ({
  host: host.host,
  model: { path: writeCheckpoint(join(host.folder, "tiny"), { "config.json": TINY_LLAMA }) },
  vllm: { executable: host.executable },
  listen: { port },
  apiKey: "sk-the-first",
});

beforeAll(async () => {
  bed = await gpuHost();
  other = await gpuHost();
  port = await freePort("127.0.0.1");
  tiny = inputsFor(bed);
});

afterAll(async () => {
  await bed.close();
  await other.close();
});

describe("a changed input", () => {
  it("that is no matter of the server leaves it running and is in state", async () => {
    expect((await up({})).code).toBe(0);
    const { pid } = await outputs();
    const live = {
      timeouts: { ready: 77, stop: 30 },
      readiness: { probe: "chat" },
      service: { restart: { max: 2 } },
      kvCacheDtype: "auto",
    };
    const changed = await up({ ...live, host: { ...bed.host, dialErrorLimit: 3 } });
    expect(changed.stdout).toContain(
      "no restart: service.restart.max 5 -> 2, readiness.probe auto -> chat, timeouts.ready 3600 -> 77, timeouts.stop 120 -> 30",
    );
    expect(await outputs()).toMatchObject({ pid, generation: 1, status: "ready", ...live });
    expect((await up({ ...live, host: { ...bed.host, dialErrorLimit: 3 } })).stdout).toContain("2 unchanged");
  });

  it("apiKey restarts it: the old key is refused, the new one accepted, neither is shown", async () => {
    const { code, stdout, stderr } = await up({ apiKey: "sk-the-second" });
    expect(code).toBe(0);
    expect(stdout).toContain("restart: apiKey changed; down");
    expect(stdout + stderr).not.toMatch(/sk-the/);
    expect([await statusFor("sk-the-first"), await statusFor("sk-the-second")]).toEqual([401, 200]);
    expect(await outputs()).toMatchObject({ generation: 2 });
  });

  it("host that names the same machine by an alias touches nothing", async () => {
    const sshConfigFile = join(bed.folder, "ssh_config");
    const { address, port: sshPort, user, privateKeyPath, knownHostsPath } = bed.sshd;
    writeFileSync(
      sshConfigFile,
      `Host gpu1\nHostName ${address}\nPort ${String(sshPort)}\nUser ${user}\nIdentityFile ${privateKeyPath}\nUserKnownHostsFile ${knownHostsPath}\n`,
    );
    const { pid } = await outputs();
    const { stdout } = await up({ apiKey: "sk-the-second", host: { host: "gpu1", sshConfigFile } });
    expect(stdout).toContain("no change on the host: credentials changed");
    expect(await outputs()).toMatchObject({ pid, generation: 2 });
  });

  it("host that is another machine starts a server there first, and then ends the old one", async () => {
    port = await freePort("127.0.0.1");
    const moved = await up(inputsFor(other));
    expect(moved.code).toBe(0);
    expect(moved.stdout.indexOf("ready in")).toBeLessThan(moved.stdout.indexOf("stopped in"));
    expect([bed.processes(), bed.serverFolders(), other.serverFolders().length]).toEqual([[], [], 1]);
    expect(await outputs()).toMatchObject({ status: "ready", generation: 1 });
    expect((await bed.project.destroy()).code).toBe(0);
    expect(other.processes()).toEqual([]);
  });

  it("host that is another name of the machine takes an unfinished server over, and the end of the older resource leaves it", async () => {
    const failing = { ...inputsFor(bed), kvCacheDtype: "fp8" };
    expect((await up(failing)).code).not.toBe(0);
    const renamed = await up({ ...inputsFor(bed), host: { ...bed.host, host: "localhost" } });
    expect(renamed.stdout).toContain("a newer resource has taken it over: it is left alone");
    expect(renamed.code).toBe(0);
    expect(bed.serverFolders()).toHaveLength(1);
    expect((await bed.project.refresh()).stdout).not.toContain("deleted");
    expect(await outputs()).toMatchObject({ status: "ready", drift: [] });
  });
});
