import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { freePort } from "../support/free-port";

/** Whose server it is, when resources get other names, are replaced, or drop out of the state. */

type Inputs = Readonly<Record<string, unknown>>;

let bed: GpuHost;
let tiny: Inputs;

beforeAll(async () => {
  bed = await gpuHost();
  tiny = { host: bed.host, ...(await bed.tinyServer(1)) };
});

afterAll(async () => {
  await bed.close();
});

/** [name, inputs, resource options] of each server */
const declare = (...servers: readonly (readonly [string, Inputs, Inputs?])[]): Promise<void> => {
  const made = servers.map((server) => `new VllmServer(...${JSON.stringify(server)});`);
  return bed.project.setProgram(['import { VllmServer } from "pulumi-vllm";', ...made, ""].join("\n"));
};
const outputs = async (name: string): Promise<Inputs> =>
  (await bed.project.servers()).find(({ urn }) => urn.endsWith(`::${name}`))?.outputs ?? {};
const ownerFile = async (name: string): Promise<string> =>
  join(String((await outputs(name))["logPath"]), "../../owner.json");
const ownerOf = async (name: string): Promise<Inputs> => {
  const owner: Inputs = JSON.parse(readFileSync(await ownerFile(name), "utf8"));
  return owner;
};

describe("a server whose resource", () => {
  it("gets another name and an alias for the old one goes on running, and the old name is free for another", async () => {
    await declare(["old", tiny]);
    expect((await bed.project.up()).code).toBe(0);
    const { pid } = await outputs("old");
    const renamed = ["new", tiny, { aliases: [{ name: "old" }] }] as const;
    await declare(renamed);
    const up = await bed.project.up();
    expect(up.stdout).toContain("no restart: renamed from test/dev old to test/dev new");
    expect(up.code).toBe(0);
    expect(await outputs("new")).toMatchObject({ status: "ready", pid, generation: 1 });
    expect(await ownerOf("new")).toMatchObject({ name: "new", confirmed: true });
    await declare(renamed, ["old", { ...tiny, listen: { port: await freePort("127.0.0.1") } }]);
    expect((await bed.project.up()).code).toBe(0);
    expect([await outputs("new"), await outputs("old")]).toMatchObject([{ pid }, { status: "ready" }]);
    expect(bed.serverFolders()).toHaveLength(2);
    await declare(["new", tiny]);
    expect((await bed.project.up()).code).toBe(0);
    expect(bed.serverFolders()).toHaveLength(1);
  });

  it("gets another name without an alias is left running, and up says what to do", async () => {
    const { pid } = await outputs("new");
    await declare(["other", tiny]);
    const { code, stdout } = await bed.project.up();
    expect(code).not.toBe(0);
    expect(stdout).toMatch(/port \d+ is taken by the server old-[0-9a-f]{8} of this tool/);
    expect(stdout).toContain("aliases");
    expect(await outputs("new")).toMatchObject({ pid });
    await declare(["new", tiny]);
    expect((await bed.project.up()).code).toBe(0);
  });

  it("is replaced by hand is left running, and up says which option it takes", async () => {
    const { pid } = await outputs("new");
    const [server] = await bed.project.servers();
    const { code, stdout } = await bed.project.up(["--replace", String(server?.urn)]);
    expect(code).not.toBe(0);
    expect(stdout).toContain("to replace it in place, give the resource the option deleteBeforeReplace");
    expect(bed.processes().some((process) => process.pid === pid)).toBe(true);
    await declare(["new", tiny, { deleteBeforeReplace: true }]);
    expect((await bed.project.up(["--replace", String(server?.urn)])).code).toBe(0);
    expect(bed.serverFolders()).toHaveLength(1);
    expect(await outputs("new")).toMatchObject({ status: "ready", generation: 1 });
  });

  it("drops out of the state is not started twice, and is taken over once its record says so", async () => {
    const { pid } = await outputs("new");
    const [server] = await bed.project.servers();
    const record = await ownerFile("new");
    await bed.project.mustRun("state", ["delete", String(server?.urn)]);
    const refused = await bed.project.up();
    expect(refused.code).not.toBe(0);
    expect(refused.stdout).toContain(`the host already has this server (${String(server?.id)}) of test/dev`);
    expect(refused.stdout).toContain(`set "confirmed" to false in ${record}`);
    const owner: Inputs = JSON.parse(readFileSync(record, "utf8"));
    writeFileSync(record, JSON.stringify({ ...owner, confirmed: false }));
    expect((await bed.project.up()).code).toBe(0);
    expect(await outputs("new")).toMatchObject({ status: "ready", pid, generation: 1 });
  });
});
