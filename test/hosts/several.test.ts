import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PulumiProject, PulumiResult } from "../support/pulumi-cli";
import { isApiServer, type Inputs, type Outputs } from "./fleet";
import { declare, makeOneMachine, outputsOf, type OneMachine } from "./one-machine";
import type { Traces } from "./site";

/** Four servers on one host, two by systemd and two by a user without rights. */

let place: OneMachine;
let other: PulumiProject;
let servers: Readonly<Record<string, Inputs>>;
let empty: readonly Traces[];

const traces = (): readonly Traces[] => ["ann", "cid"].map((user) => place.site(user).traces());
const apiServers = (): number =>
  ["ann", "cid"].flatMap((user) => place.site(user).processes().filter(isApiServer)).length;
const gpusOf = (seen: readonly Outputs[]): readonly unknown[] => seen.map(({ gpuUuids }) => gpuUuids).flat();

beforeAll(async () => {
  place = await makeOneMachine({ name: "gpu4", users: [{ name: "ann", sudo: true }, { name: "cid" }] });
  other = await place.anotherProject();
  empty = traces();
  servers = {
    "ann-one": await place.server("ann"),
    "ann-two": await place.server("ann"),
    "cid-one": await place.server("cid"),
    "cid-two": await place.server("cid"),
  };
});

afterAll(async () => {
  await place.close();
});

const expectFour = (results: readonly PulumiResult[], seen: readonly Outputs[]): void => {
  expect(results.map(({ code }) => code)).toEqual(results.map(() => 0));
  expect(seen.map(({ status, generation }) => [status, generation])).toEqual(Array(4).fill(["ready", 1]));
  expect(new Set(gpusOf(seen)).size).toBe(4);
  expect(gpusOf(seen)).toHaveLength(4);
  expect(apiServers()).toBe(4);
};

describe("four servers on one host", () => {
  it("by one up: all are ready, each on a GPU of its own; destroy leaves nothing", async () => {
    await declare(place.project, servers);
    const up = await place.project.up();
    expectFour([up], Object.values(await outputsOf(place.project)));
    expect((await place.project.destroy()).code).toBe(0);
    expect(traces()).toEqual(empty);
  });

  it("by two ups at once: all are ready, each on a GPU of its own, and a destroy of two leaves the other two alone", async () => {
    const [annOne, annTwo, cidOne, cidTwo] = Object.values(servers);
    await declare(place.project, { "ann-one": annOne ?? {}, "cid-one": cidOne ?? {} });
    await declare(other, { "ann-two": annTwo ?? {}, "cid-two": cidTwo ?? {} });
    const ups = await Promise.all([place.project.up(), other.up()]);
    const seen = await Promise.all([outputsOf(place.project), outputsOf(other)]);
    expectFour(
      ups,
      seen.flatMap((outputs) => Object.values(outputs)),
    );
    expect((await other.destroy()).code).toBe(0);
    expect(apiServers()).toBe(2);
    expect((await place.project.refresh()).code).toBe(0);
    const left = Object.values(await outputsOf(place.project));
    expect(left.map(({ status, drift, pid }) => [status, drift, pid])).toEqual(
      Object.values(seen[0]).map(({ pid }) => ["ready", [], pid]),
    );
    expect((await place.project.destroy()).code).toBe(0);
    expect(traces()).toEqual(empty);
  });
});
