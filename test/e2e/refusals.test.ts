import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { freePort } from "../support/free-port";

let bed: GpuHost;
let tiny: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  bed = await gpuHost();
  tiny = await bed.tinyServer();
});

afterAll(async () => {
  await bed.close();
});

describe("what is refused", () => {
  it("bad inputs: every problem at once, each at its path, and no connection was opened", async () => {
    const before = bed.sshd.connectionCount();
    await bed.declare({
      wrong: {
        ...tiny,
        engine: { maxModelLenn: 1, gpuMemoryUtilization: 7 },
        listen: { port: 99999 },
        kvCacheDType: "auto",
      },
    });
    const { code, stdout } = await bed.project.preview();
    expect(code).not.toBe(0);
    for (const words of [
      "engine.maxModelLenn",
      "maxModelLen",
      "engine.gpuMemoryUtilization",
      "listen.port",
      "kvCacheDType",
      "kvCacheDtype",
    ]) {
      expect(stdout).toContain(words);
    }
    expect(bed.sshd.connectionCount()).toBe(before);
  });

  it("a flag that the installed version does not know: by name, before what runs is stopped", async () => {
    await bed.declare({ tiny });
    expect((await bed.project.up()).code).toBe(0);
    const pid = (await bed.project.servers())[0]?.outputs?.["pid"];
    await bed.declare({ tiny: { ...tiny, extraArgs: { "swap-space": 4 } } });
    const { code, stdout } = await bed.project.up();
    expect(code).not.toBe(0);
    expect(stdout).toContain("vLLM 0.32.0 does not know --swap-space");
    expect(stdout).toContain('extraArgs["swap-space"]');
    expect(bed.processes().some((process) => process.pid === pid)).toBe(true);
    expect((await bed.project.destroy()).code).toBe(0);
  });

  it("a host that does not answer is never taken for a host without the server", async () => {
    await bed.declare({ tiny });
    expect((await bed.project.up()).code).toBe(0);
    const before = await bed.project.servers();
    await bed.declare({
      tiny: { ...tiny, host: { ...bed.host, port: await freePort("127.0.0.1"), dialErrorLimit: 1 } },
    });
    const refused = await bed.project.start("refresh", ["--run-program"]).result;
    expect(refused.stdout + refused.stderr).not.toContain("deleted");
    expect((await bed.project.servers())[0]?.id).toBe(before[0]?.id);
    await bed.declare({ tiny });
    expect((await bed.project.destroy()).code).toBe(0);
    expect(bed.processes()).toEqual([]);
  });
});
