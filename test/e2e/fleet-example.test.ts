import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { repositoryFolder } from "../../scripts/places.mjs";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { freePort } from "../support/free-port";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { homeThatKnows } from "../support/pasted-project";
import { PulumiProject, type PulumiResult } from "../support/pulumi-cli";

/** examples/fleet as a person copies it, with rows of three hosts that ~/.ssh/config knows, and what its README says of them. */

const ROLES = ["chat", "code", "embed", "assistant"] as const;

interface Row {
  readonly host: "gpu1" | "gpu2" | "gpu3";
  readonly role: (typeof ROLES)[number];
}

let beds: readonly GpuHost[];
let home: string;
let fleet: PulumiProject;

beforeAll(async () => {
  beds = await Promise.all([gpuHost(), gpuHost(), gpuHost()]);
  for (const bed of beds) bed.offerByLogin();
  home = homeThatKnows(...beds);
  fleet = await PulumiProject.create({
    copyOf: join(repositoryFolder, "examples/fleet"),
    env: { HOME: home },
  });
  await fleet.writeFile("roles.ts", await roles());
});

afterAll(async () => {
  await fleet.destroy();
  await fleet.remove();
  for (const bed of beds) await bed.close();
  rmSync(home, { recursive: true, force: true });
});

/** Each takes all GPUs of its machine. The hosts of this test share their ports, so each role has its own. */
async function roles(): Promise<string> {
  const models = join(beds[0]?.folder ?? "", "models");
  mkdirSync(models);
  const path = writeCheckpoint(join(models, "tiny"), {
    "config.json": { ...TINY_LLAMA, num_attention_heads: 8, num_key_value_heads: 8 },
  });
  const role = async (name: string): Promise<string> => `  ${name}: {
    model: { path: ${JSON.stringify(path)} },
    engine: { servedModelName: ["${name}"], tensorParallelSize: 8 },
    listen: { port: ${String(await freePort("127.0.0.1"))} },
  },`;
  return [
    'import type { EngineArgs, VllmServerArgs } from "pulumi-vllm";',
    'type RoleArgs = Omit<VllmServerArgs, "host" | "engine"> & { readonly engine: EngineArgs };',
    "export const roles = {",
    ...(await Promise.all(ROLES.map(role))),
    "} satisfies Record<string, RoleArgs>;",
    "export type Role = keyof typeof roles;",
    "",
  ].join("\n");
}

async function setRows(rows: readonly Row[]): Promise<void> {
  const text = `import type { EngineArgs } from "pulumi-vllm";
import type { Role } from "./roles";

export interface Machine {
  readonly host: string;
  readonly role: Role;
  readonly overrides?: EngineArgs;
}

export const machines: readonly Machine[] = ${JSON.stringify(rows)};
`;
  await fleet.writeFile("machines.ts", text);
}

async function mustUp(...args: readonly string[]): Promise<PulumiResult> {
  const result = await fleet.up(args);
  expect(result.code, `${result.stdout}\n${result.stderr}`).toBe(0);
  return result;
}

interface Running {
  readonly serves: unknown;
  readonly pid: unknown;
}

/** By host: the names its server answers to, and its process. */
async function running(): Promise<Readonly<Record<string, Running>>> {
  const servers = await fleet.servers();
  const rows = servers.map(async ({ urn, outputs }): Promise<readonly [string, Running]> => {
    const answer = await fetch(`${String(outputs?.["baseUrl"])}/models`);
    const { data }: { readonly data: readonly { readonly id: string }[] } = JSON.parse(await answer.text());
    return [urn.split("::").at(-1) ?? "", { serves: data.map(({ id }) => id), pid: outputs?.["pid"] }];
  });
  return Object.fromEntries(await Promise.all(rows));
}

/** On how many servers it worked at once, at most. */
function mostAtOnce({ events }: PulumiResult): number {
  let [now, most] = [0, 0];
  for (const { resourcePreEvent, resOutputsEvent } of events) {
    if (resourcePreEvent?.metadata.type.endsWith("VllmServer") === true) now += 1;
    if (resOutputsEvent?.metadata.type.endsWith("VllmServer") === true) now -= 1;
    most = Math.max(most, now);
  }
  return most;
}

/** How many processes each host has, and how many folders of servers. */
function left(): readonly (readonly [boolean, number])[] {
  return beds.map((bed) => [bed.processes().length > 0, bed.serverFolders().length]);
}

test("all machines are brought up side by side, and with --parallel 2 no more than two at a time", async () => {
  await setRows([
    { host: "gpu1", role: "chat" },
    { host: "gpu2", role: "code" },
    { host: "gpu3", role: "embed" },
  ]);
  expect(mostAtOnce(await mustUp("--parallel", "2"))).toBe(2);
  expect(await running()).toEqual({
    gpu1: { serves: ["chat"], pid: expect.any(Number) },
    gpu2: { serves: ["code"], pid: expect.any(Number) },
    gpu3: { serves: ["embed"], pid: expect.any(Number) },
  });
});

test("a machine gets another role, alone, and a row that is gone ends its server: nothing happens to the others", async () => {
  const { gpu1, gpu2, gpu3 } = await running();
  await setRows([
    { host: "gpu1", role: "chat" },
    { host: "gpu2", role: "assistant" },
  ]);
  await mustUp("--target", "**::gpu2");
  const changed = await running();
  expect(changed).toEqual({ gpu1, gpu2: { serves: ["assistant"], pid: expect.any(Number) }, gpu3 });
  expect(changed["gpu2"]?.pid).not.toBe(gpu2?.pid);

  await mustUp();
  expect(await running()).toEqual({ gpu1, gpu2: changed["gpu2"] });
  expect(left()).toEqual([
    [true, 1],
    [true, 1],
    [false, 0],
  ]);
});

test("destroy leaves nothing on any of them", async () => {
  const { code, stdout, stderr } = await fleet.destroy();
  expect(code, `${stdout}\n${stderr}`).toBe(0);
  expect(left()).toEqual(Array(3).fill([false, 0]));
});
