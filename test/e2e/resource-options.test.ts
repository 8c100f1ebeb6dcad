import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import type { PulumiResult } from "../support/pulumi-cli";

/** The options of a resource and the ways to run an update, each for real, in the order in which a stack would meet them. */

type Inputs = Readonly<Record<string, unknown>>;

let bed: GpuHost;
let first: Inputs;
let second: Inputs;

beforeAll(async () => {
  bed = await gpuHost();
  first = { host: bed.host, ...(await bed.tinyServer(1)) };
  second = { host: bed.host, ...(await bed.tinyServer(1)) };
});

afterAll(async () => {
  await bed.close();
});

interface Declared {
  readonly inputs: Inputs;
  /** Text of the options. */
  readonly options?: string;
}

async function declare(servers: Readonly<Record<string, Declared>>): Promise<void> {
  const lines = Object.entries(servers).map(
    ([name, { inputs, options = "{}" }]) =>
      `const ${name} = new VllmServer(${JSON.stringify(name)}, ${JSON.stringify(inputs)}, ${options});`,
  );
  await bed.project.setProgram(['import { VllmServer } from "pulumi-vllm";', ...lines, ""].join("\n"));
}

async function up(
  servers: Readonly<Record<string, Declared>>,
  ...words: readonly string[]
): Promise<PulumiResult> {
  await declare(servers);
  const result = await bed.project.up(words);
  expect(result.code, result.stdout + result.stderr).toBe(0);
  return result;
}

/** name -> [process, generation] of what is in state. */
async function running(): Promise<Readonly<Record<string, readonly [pid: unknown, generation: unknown]>>> {
  const servers = await bed.project.servers();
  return Object.fromEntries(
    servers.map(({ urn, outputs = {} }) => [urn.split("::").at(-1), [outputs["pid"], outputs["generation"]]]),
  );
}

const apiServers = (): number => bed.processes().filter(({ command }) => / serve /.test(command)).length;
const withLength = (inputs: Inputs, maxModelLen: number): Inputs => ({ ...inputs, engine: { maxModelLen } });

describe("a server in a stack", () => {
  it("is left as it is by what ignoreChanges names", async () => {
    await up({ one: { inputs: first } });
    const before = await running();
    const { stdout } = await up({
      one: { inputs: withLength(first, 100), options: '{ ignoreChanges: ["engine"] }' },
    });
    expect(stdout).toContain("2 unchanged");
    expect(await running()).toEqual(before);
  });

  it("keeps running under a new name that has the old one as an alias", async () => {
    const { one } = await running();
    const { stdout } = await up({ chat: { inputs: first, options: '{ aliases: [{ name: "one" }] }' } });
    expect(stdout).toContain("no restart: renamed from test/dev one to test/dev chat");
    expect(await running()).toEqual({ chat: one });
  });

  it("is not destroyed while it is protected", async () => {
    await up({ chat: { inputs: first, options: "{ protect: true }" } });
    const refused = await bed.project.destroy();
    expect([refused.code, refused.stdout + refused.stderr]).toEqual([
      1,
      expect.stringContaining("cannot be deleted"),
    ]);
    expect(apiServers()).toBe(1);
  });

  it("waits for what it depends on, and what is not known in preview is told", async () => {
    const options = "{ dependsOn: [chat] }";
    // The other one's pid is known once it runs, and that it has a new one only then.
    const needs = { ...second, environment: { OTHER_PID: "@pid" } };
    await declare({ chat: { inputs: withLength(first, 100) }, embed: { inputs: needs, options } });
    const program = readFileSync(join(bed.project.folder, "index.js"), "utf8");
    const asOutput = program.replace('"@pid"', "chat.pid.apply((pid) => String(pid))");
    await bed.project.setProgram(asOutput);
    expect((await bed.project.up()).code).toBe(0);
    const before = await running();
    await bed.project.setProgram(asOutput.replace('"maxModelLen":100', '"maxModelLen":90'));
    const preview = await bed.project.preview();
    expect([preview.code, preview.stdout]).toEqual([
      0,
      expect.stringContaining("restart: engine.maxModelLen 100 -> 90; down"),
    ]);
    expect(await running()).toEqual(before);
    expect((await bed.project.up()).code).toBe(0);
    const after = await running();
    expect([after["chat"]?.[1], after["embed"]?.[1]]).toEqual([
      Number(before["chat"]?.[1]) + 1,
      Number(before["embed"]?.[1]) + 1,
    ]);
  });

  it("is the only one that a targeted update touches; --refresh and --run-program find nothing else to do", async () => {
    const both = { chat: { inputs: withLength(first, 80) }, embed: { inputs: withLength(second, 80) } };
    // Of its own dependencies nothing is left by then: Pulumi 3.276.0 takes one of a resource that is not a target for a second registration.
    await up({ chat: { inputs: withLength(first, 90) }, embed: { inputs: withLength(second, 90) } });
    const before = await running();
    await up(both, "--target", "**chat");
    const targeted = await running();
    expect(targeted["embed"]).toEqual(before["embed"]);
    expect(targeted["chat"]?.[1]).toBe(Number(before["chat"]?.[1]) + 1);
    await up(both, "--refresh");
    const refreshed = await running();
    expect(refreshed["chat"]).toEqual(targeted["chat"]);
    expect(refreshed["embed"]?.[1]).toBe(Number(before["embed"]?.[1]) + 1);
    const { code, stdout } = await bed.project.refresh(["--run-program"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("3 unchanged")]);
  });

  it("is updated in place where replaceOnChanges is wished: a dynamic provider cannot tell Pulumi which property changed", async () => {
    const chat = { inputs: withLength(first, 70), options: '{ replaceOnChanges: ["engine.maxModelLen"] }' };
    const before = await bed.project.servers();
    const { stdout } = await up({ chat, embed: { inputs: withLength(second, 80) } });
    expect(stdout).toContain("1 updated");
    const ids = (servers: typeof before): readonly unknown[] => servers.map(({ id }) => id).sort();
    expect(ids(await bed.project.servers())).toEqual(ids(before));
  });

  it("stays on its host where it is retained, and is taken over as the error says, without a restart", async () => {
    const chat = { inputs: withLength(first, 70) };
    const embed = { inputs: withLength(second, 80) };
    await up({ chat, embed: { ...embed, options: "{ retainOnDelete: true }" } });
    const { embed: before } = await running();
    await up({ chat });
    expect([Object.keys(await running()), apiServers()]).toEqual([["chat"], 2]);
    await declare({ chat, embed });
    const refused = await bed.project.up();
    const [, record] = /set "confirmed" to false in (\S+owner\.json)/.exec(refused.stdout) ?? [];
    expect([refused.code === 0, record]).toEqual([false, expect.stringContaining(bed.home)]);
    const text = readFileSync(record ?? "", "utf8");
    writeFileSync(record ?? "", text.replace(/"confirmed":\s*true/, '"confirmed": false'));
    expect((await bed.project.up()).code).toBe(0);
    expect((await running())["embed"]).toEqual(before);
  });

  it("is not deleted by itself where it goes with another resource", async () => {
    const chat = { inputs: withLength(first, 70) };
    await up({ chat, embed: { inputs: withLength(second, 80), options: "{ deletedWith: chat }" } });
    const { code } = await bed.project.destroy(["--run-program"]);
    // Pulumi takes the host of a deletedWith for gone: what runs there stays.
    expect([code, await running(), apiServers()]).toEqual([0, {}, 1]);
    await declare({ embed: { inputs: withLength(second, 80) } });
    const refused = await bed.project.up();
    const [, record] = /set "confirmed" to false in (\S+owner\.json)/.exec(refused.stdout) ?? [];
    const text = readFileSync(record ?? "", "utf8");
    writeFileSync(record ?? "", text.replace(/"confirmed":\s*true/, '"confirmed": false'));
    expect((await bed.project.up()).code).toBe(0);
    expect((await bed.project.destroy()).code).toBe(0);
    expect([bed.processes(), bed.serverFolders()]).toEqual([[], []]);
  });
});
