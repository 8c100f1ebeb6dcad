import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HostProcess } from "../support/host-processes";
import { eventually } from "../support/eventually";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { descendantsOf } from "../support/process-tree";
import type { RunningPulumi } from "../support/pulumi-cli";

let bed: GpuHost;
let inputs: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  bed = await gpuHost();
  inputs = await bed.tinyServer(6);
});

afterAll(async () => {
  await bed.close();
});

const apiServers = (): readonly HostProcess[] =>
  bed.processes().filter(({ command }) => / serve /.test(command));
const starting = (): Promise<HostProcess> => eventually("an API server runs", () => apiServers()[0] ?? null);

/** Waits until a run says so, from now on. */
async function saying({ output }: RunningPulumi, words: string): Promise<void> {
  let said = "";
  output.on("data", (piece) => (said += String(piece)));
  await eventually(`it says ${words}`, () => (said.includes(words) ? true : null));
}

describe("a start that is cut", () => {
  it("goes on when the SSH connection breaks, and the same up finds it again", async () => {
    await bed.declare({ cut: inputs });
    const up = bed.project.start("up");
    const { pid } = await starting();
    bed.sshd.cutAll();
    const { code, stdout } = await up.result;
    expect(stdout).toContain("looking again");
    expect(code).toBe(0);
    expect((await bed.project.servers())[0]?.outputs).toMatchObject({ status: "ready", pid, generation: 1 });
    expect(apiServers().map((process) => process.pid)).toEqual([pid]);
    expect((await bed.project.destroy()).code).toBe(0);
    expect(bed.processes()).toEqual([]);
  });

  it("goes on when the CLI is killed, its provider ends by itself, and the next up takes the server over", async () => {
    await bed.declare({ killed: inputs });
    const up = bed.project.start("up");
    const { pid } = await starting();
    up.kill("SIGKILL");
    await up.result;
    await eventually("the connection of the killed up is gone", () =>
      descendantsOf(bed.sshd.pid).length === 0 ? true : null,
    );
    expect((await bed.project.cancel()).code).toBe(0);
    const again = await bed.project.up();
    expect(again.code).toBe(0);
    expect((await bed.project.servers())[0]?.outputs).toMatchObject({ status: "ready", pid, generation: 1 });
    expect(apiServers().map((process) => process.pid)).toEqual([pid]);
    expect(bed.serverFolders()).toHaveLength(1);
    expect((await bed.project.destroy()).code).toBe(0);
    expect(bed.processes()).toEqual([]);
  });

  it("is waited for after the first ^C, recorded, and has nothing left to do", async () => {
    await bed.declare({ once: inputs });
    const up = bed.project.start("up");
    const { pid } = await starting();
    up.kill("SIGINT");
    const { code, stdout, stderr } = await up.result;
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining("update canceled")]);
    expect(stdout).toContain(
      "^C again orphans nothing: the host goes on by itself, and the next `pulumi up` takes it up (after `pulumi cancel`, where the stack is locked)",
    );
    expect((await bed.project.servers())[0]?.outputs).toMatchObject({ status: "ready", pid, generation: 1 });
    // What passes would hide it.
    expect(stdout).toContain("^C again orphans nothing; the API server is up");
    const again = await bed.project.up();
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("2 unchanged")]);
    expect((await bed.project.destroy()).code).toBe(0);
    expect(bed.processes()).toEqual([]);
  });

  it("goes on after the second ^C, and the next up takes the server over", async () => {
    await bed.declare({ twice: inputs });
    const up = bed.project.start("up");
    const { pid } = await starting();
    up.kill("SIGINT");
    await saying(up, "^C received");
    up.kill("SIGINT");
    expect((await up.result).stdout).toContain("terminating");
    await eventually("the connection of the ended up is gone", () =>
      descendantsOf(bed.sshd.pid).length === 0 ? true : null,
    );
    await bed.project.cancel();
    const again = await bed.project.up();
    expect(again.code, again.stdout).toBe(0);
    expect((await bed.project.servers())[0]?.outputs).toMatchObject({ status: "ready", pid, generation: 1 });
    expect(apiServers().map((process) => process.pid)).toEqual([pid]);
    expect((await bed.project.destroy()).code).toBe(0);
    expect(bed.processes()).toEqual([]);
  });
});

describe("a stop that is cut", () => {
  it("says at the first ^C what another one does, and the next destroy goes on with it", async () => {
    const slow = await bed.tinyServer();
    await bed.declare({ slow: { ...slow, environment: { STAND_IN_STOP_SECONDS: "6" } } });
    expect((await bed.project.up()).code).toBe(0);
    const destroy = bed.project.start("destroy");
    await saying(destroy, " stopping");
    destroy.kill("SIGINT");
    await saying(
      destroy,
      "^C again orphans nothing: the stop is cut off where it is, and the next `pulumi destroy` goes on with it (after `pulumi cancel`, where the stack is locked)",
    );
    destroy.kill("SIGINT");
    expect((await destroy.result).stdout).toContain("terminating");
    await bed.project.cancel();
    const again = await bed.project.destroy();
    expect(again.code, again.stdout).toBe(0);
    expect([bed.processes(), bed.serverFolders(), await bed.project.servers()]).toEqual([[], [], []]);
  });
});
