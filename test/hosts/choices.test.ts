import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PulumiResult } from "../support/pulumi-cli";
import { isApiServer, type Inputs, type Outputs } from "./fleet";
import { declare, makeOneMachine, outputsOf, type OneMachine } from "./one-machine";
import type { SiteProcess, Traces } from "./site";

/** Which service manager a server gets, and how it moves to another. In order: each part goes on with the servers of the one before. */

let place: OneMachine;
let run: PulumiResult;
let seen: Readonly<Record<string, Outputs>>;
let empty: Readonly<Record<"eve" | "dan", Traces>>;
let servers: Readonly<Record<"mover" | "thrifty" | "plain", Inputs>>;

const traces = (): typeof empty => ({ eve: place.site("eve").traces(), dan: place.site("dan").traces() });
const up = async (managers: Readonly<Partial<Record<keyof typeof servers, string>>>): Promise<void> => {
  const declared = Object.entries(servers).map(([name, inputs]) => {
    const manager = Object.entries(managers).find(([key]) => key === name)?.[1] ?? "auto";
    return [name, { ...inputs, service: { manager } }] as const;
  });
  await declare(place.project, Object.fromEntries(declared));
  run = await place.project.up(["--continue-on-error"]);
  seen = await outputsOf(place.project);
};
const processesOf = (user: "eve" | "dan", name: string): readonly SiteProcess[] => {
  const { serverId } = idOf(name);
  return place
    .site(user)
    .processes()
    .filter(({ server }) => server === serverId);
};
const idOf = (name: string): { readonly serverId: string } => ({ serverId: String(ids.get(name)) });
const ids = new Map<string, string>();
/** Unit files of a server as its manager keeps them. */
const filesOf = (name: string, folder: string, target: string): readonly string[] =>
  [
    `${target}.wants/pulumi-vllm-${idOf(name).serverId}.service`,
    ...["-watch.service", "-watch.timer", ".service"].map(
      (end) => `pulumi-vllm-${idOf(name).serverId}${end}`,
    ),
  ].map((path) => `${folder}/${path}`);
const unitFilesOf = (name: string): readonly string[] =>
  place.unitFiles("eve").filter((path) => path.includes(`pulumi-vllm-${idOf(name).serverId}`));

beforeAll(async () => {
  place = await makeOneMachine({
    name: "gpu3",
    users: [{ name: "eve", sudo: true, linger: true }, { name: "dan" }],
  });
  empty = traces();
  const thrifty = await place.server("eve");
  servers = {
    mover: await place.server("eve"),
    thrifty: { ...thrifty, host: { ...place.site("eve").inputs.host, sudo: "never" } },
    plain: await place.server("dan"),
  };
  await up({ mover: "process" });
  for (const { urn, id } of await place.project.servers()) ids.set(urn.split("::").at(-1) ?? "", id ?? "");
});

afterAll(async () => {
  await place.close();
});

describe("the first start", () => {
  it("takes the manager that was asked for, else the best that works", () => {
    expect(run.code).toBe(0);
    const found = Object.entries(seen).map(([name, { status, manager, startsOnBoot }]) => [
      name,
      status,
      manager,
      startsOnBoot,
    ]);
    expect(found.toSorted()).toEqual([
      ["mover", "ready", "process", false],
      ["plain", "ready", "process", false],
      ["thrifty", "ready", "systemd-user", true],
    ]);
  });
});

describe('"systemd-user" for a user who may not linger', () => {
  let before: readonly SiteProcess[];
  beforeAll(async () => {
    before = processesOf("dan", "plain");
    await up({ mover: "process", plain: "systemd-user" });
  });

  it("is one clear error, before anything is stopped", async () => {
    expect(run.code).not.toBe(0);
    expect(new Set(run.stdout.match(/Cannot .*/g) ?? []).size).toBe(1);
    expect(run.stdout).toMatch(
      /Cannot run the server as "systemd-user": services of dan end with the login, and linger is not allowed \(.+\)/,
    );
    expect(run.stdout).toMatch(/change: +service\.manager: "auto" .*loginctl enable-linger/);
    expect(before.length).toBeGreaterThan(2);
    expect(processesOf("dan", "plain")).toEqual(before);
    expect(await place.site("dan").complete(portOf("plain"))).toMatchObject({ model: "tiny" });
  });
});

describe("another manager", () => {
  it.each([
    { manager: "systemd", folder: "/etc/systemd/system", target: "multi-user.target" },
    { manager: "systemd-user", folder: "/home/eve/.config/systemd/user", target: "default.target" },
    { manager: "process", folder: null, target: "" },
  ])(
    "moves the server to $manager: one server on the same GPUs, counted on, nothing of the one before",
    async (to) => {
      const before = seen["mover"];
      const others = [...processesOf("eve", "thrifty"), ...processesOf("dan", "plain")];
      await up({ mover: to.manager });
      expect(run.code).toBe(0);
      expect(seen["mover"]).toMatchObject({
        status: "ready",
        drift: [],
        manager: to.manager,
        startsOnBoot: to.folder !== null,
        serviceName: to.folder === null ? null : `pulumi-vllm-${idOf("mover").serverId}.service`,
        generation: Number(before?.["generation"]) + 1,
        gpuUuids: before?.["gpuUuids"],
      });
      expect(processesOf("eve", "mover").filter(isApiServer)).toHaveLength(1);
      const supervisors = place
        .site("eve")
        .processes()
        .filter(({ server }) => server === null);
      expect(supervisors).toHaveLength(to.folder === null ? 1 : 0);
      expect(unitFilesOf("mover")).toEqual(to.folder === null ? [] : filesOf("mover", to.folder, to.target));
      expect([...processesOf("eve", "thrifty"), ...processesOf("dan", "plain")]).toEqual(others);
    },
  );
});

describe("destroy", () => {
  it("leaves nothing of any manager", async () => {
    expect((await place.project.destroy()).code).toBe(0);
    expect(traces()).toEqual(empty);
  });
});

function portOf(name: keyof typeof servers): number {
  const listen: unknown = servers[name]["listen"];
  return typeof listen === "object" && listen !== null && "port" in listen ? Number(listen.port) : 0;
}
