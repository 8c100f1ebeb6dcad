import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { PulumiProject } from "../support/pulumi-cli";
import { freePort } from "../support/free-port";

/** Two people, two projects, one host. */

let bed: GpuHost;
let other: PulumiProject;
let inputs: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  bed = await gpuHost();
  other = await PulumiProject.create({ program: "", name: "other" });
  inputs = {
    model: { path: writeCheckpoint(join(bed.folder, "tiny"), { "config.json": TINY_LLAMA }) },
    vllm: { executable: bed.executable },
    environment: { STAND_IN_START_SECONDS: "4" },
  };
});

afterAll(async () => {
  await other.destroy();
  await other.remove();
  await bed.close();
});

const outputsOf = async (project: PulumiProject): Promise<Readonly<Record<string, unknown>>> =>
  (await project.servers())[0]?.outputs ?? {};

describe("two ups at the same host at once", () => {
  it("on one port: one serves, the other fails with its name, nothing is broken", async () => {
    const port = await freePort("127.0.0.1");
    await bed.declare({ first: { ...inputs, listen: { port } } });
    await other.setProgram(bed.programOf({ second: { ...inputs, listen: { port } } }));
    const [one, two] = await Promise.all([bed.project.up(), other.up()]);
    const codes = [one.code, two.code].sort();
    expect(codes[0]).toBe(0);
    expect(codes[1]).not.toBe(0);
    const [winner, loser] = one.code === 0 ? ["first", two] : ["second", one];
    expect(loser.stdout).toMatch(
      new RegExp(`${String(port)}.* is taken by the server ${winner}-[0-9a-f]{8}`),
    );
    expect(bed.processes().filter(({ command }) => / serve /.test(command))).toHaveLength(1);
    expect((await bed.project.destroy()).code).toBe(0);
    expect((await other.destroy()).code).toBe(0);
    expect(bed.processes()).toEqual([]);
  });

  it("on two ports: both serve, on different GPUs, one start after the other", async () => {
    await bed.declare({ first: { ...inputs, listen: { port: await freePort("127.0.0.1") } } });
    await other.setProgram(
      bed.programOf({ second: { ...inputs, listen: { port: await freePort("127.0.0.1") } } }),
    );
    const [one, two] = await Promise.all([bed.project.up(), other.up()]);
    expect([one.code, two.code]).toEqual([0, 0]);
    const [first, second] = [await outputsOf(bed.project), await outputsOf(other)];
    expect([first["status"], second["status"]]).toEqual(["ready", "ready"]);
    expect(first["gpuUuids"]).toHaveLength(1);
    expect(first["gpuUuids"]).not.toEqual(second["gpuUuids"]);
    const starts = [first, second].map((seen) => Date.parse(String(seen["startedAt"])) / 1000).sort();
    expect((starts[1] ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(3);
    expect((await bed.project.destroy()).code).toBe(0);
    expect(await outputsOf(other)).toMatchObject({ status: "ready" });
    expect(bed.processes().filter(({ command }) => / serve /.test(command))).toHaveLength(1);
    expect((await other.destroy()).code).toBe(0);
    expect(bed.processes()).toEqual([]);
  });
});
