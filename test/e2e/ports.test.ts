import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually";
import { gpuHost, type GpuHost } from "../support/gpu-host";

/** Whoever has a port keeps it, is named, and is never taken for ours. */

let bed: GpuHost;
let tiny: Readonly<Record<string, unknown>>;
let port: number;

beforeAll(async () => {
  bed = await gpuHost();
  tiny = await bed.tinyServer(1);
  port = portOf(tiny["listen"]);
});

afterAll(async () => {
  await bed.close();
});

const outputs = async (): Promise<Readonly<Record<string, unknown>>> =>
  (await bed.project.servers())[0]?.outputs ?? {};

function portOf(listen: unknown): number {
  return typeof listen === "object" && listen !== null && "port" in listen ? Number(listen.port) : 0;
}

const answers = (): Promise<true | null> =>
  fetch(`http://127.0.0.1:${String(port)}/health`).then(
    ({ status }) => (status === 200 ? true : null),
    () => null,
  );

describe("a port that somebody has", () => {
  it("is told with its owner, and the server that was to move there serves on as it was", async () => {
    await bed.declare({ tiny });
    expect((await bed.project.up()).code).toBe(0);
    const before = await outputs();
    const rival = createServer();
    await new Promise<void>((resolve) => rival.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      rival.close();
    });
    const taken = portOf(rival.address());
    await bed.declare({ tiny: { ...tiny, listen: { port: taken } } });
    const { code, stdout } = await bed.project.up();
    expect(code).not.toBe(0);
    expect(stdout).toContain(`port ${String(taken)} is taken by process ${String(process.pid)} of `);
    expect(await answers()).toBe(true);
    const pids = bed.processes().flatMap(({ pid, command }) => (/ serve /.test(command) ? [pid] : []));
    expect(pids).toEqual([before["pid"]]);
    expect(rival.listening).toBe(true);
    await bed.declare({ tiny });
    expect((await bed.project.up()).code).toBe(0);
    expect(await outputs()).toMatchObject({ pid: before["pid"], generation: 1, status: "ready" });
  });

  it("by a server that was started by hand from our very files: never taken for ours, never stopped", async () => {
    const { pid, logPath } = await outputs();
    const folder = join(String(logPath), "../..");
    const config = join(bed.folder, "by-hand.yaml");
    copyFileSync(join(folder, "serve.yaml"), config);
    expect((await bed.project.destroy()).code).toBe(0);
    const byHand = startByHand(config);
    onTestFinished(() => end(byHand));
    await eventually("it answers", answers);
    expect(readFileSync(config, "utf8")).toContain("fingerprint-value");

    const up = await bed.project.up();
    expect(up.code).not.toBe(0);
    expect(up.stdout).toContain(`port ${String(port)} is taken by process ${String(byHand.pid)} of `);
    expect(byHand.pid).not.toBe(pid);
    expect((await bed.project.refresh()).code).toBe(0);
    expect((await bed.project.destroy()).code).toBe(0);
    expect([byHand.exitCode, byHand.signalCode, await answers()]).toEqual([null, null, true]);
  });

  it("by a stranger that came when ours had died: refresh does not see ours in it, and up names it", async () => {
    await bed.declare({ tiny: { ...tiny, service: { restart: { max: 0 } } } });
    expect((await bed.project.up()).code).toBe(0);
    const { pid, logPath } = await outputs();
    const config = join(String(logPath), "../../serve.yaml");
    process.kill(Number(pid), "SIGKILL");
    await eventually("nothing of it is left", () => (bed.processes().length === 0 ? true : null));
    const byHand = startByHand(config);
    onTestFinished(() => end(byHand));
    await eventually("it answers", answers);
    expect((await bed.project.refresh()).code).toBe(0);
    expect((await outputs())["status"]).not.toBe("ready");
    const up = await bed.project.up();
    expect(up.code).not.toBe(0);
    expect(up.stdout).toContain(`taken by process ${String(byHand.pid)} of `);
    expect((await bed.project.destroy()).code).toBe(0);
    expect([byHand.exitCode, byHand.signalCode, await answers()]).toEqual([null, null, true]);
  });
});

/** Asked, and not killed, it takes its shared memory away itself. */
async function end(server: ChildProcess): Promise<void> {
  const ended = once(server, "exit");
  server.kill("SIGTERM");
  await ended;
}

/** Same program, same files, same port and fingerprint; another session, and no mark of ours. */
function startByHand(config: string): ChildProcess {
  return spawn(bed.executable, ["serve", join(bed.folder, "tiny"), "--config", config], {
    env: { PATH: process.env["PATH"], STAND_IN_START_SECONDS: "0.2", TMPDIR: bed.folder },
    stdio: "ignore",
    detached: true,
  });
}
