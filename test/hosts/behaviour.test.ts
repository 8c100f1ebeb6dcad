import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeBoots } from "./boots";
import { describeCrashes } from "./crashes";
import { describeEnding } from "./ending";
import { Fleet, neighbourOf } from "./fleet";
import { describeLife } from "./life";
import { PLACES } from "./places";
import { describeReturns } from "./returns";
import type { Traces } from "./site";
import { describeUnits } from "./units";

/** One behaviour, whoever looks after the process. In order: each part goes on with the servers of the one before. */

let fleet: Fleet;
const empty = new Map<string, Traces>();
const alone = new Map<string, Traces>();
const neighbours = new Map<string, readonly number[]>();
const fleetOf = (): Fleet => fleet;
const record = (into: Map<string, Traces>): void => {
  for (const { name } of PLACES) into.set(name, fleet.site(name).traces());
};

beforeAll(async () => {
  fleet = await Fleet.make();
  record(empty);
  await fleet.declare(() => null);
  const run = await fleet.run("up");
  if (run.code !== 0) throw new Error(run.stdout);
  record(alone);
  for (const { name } of PLACES)
    neighbours.set(
      name,
      fleet.processes(neighbourOf(name)).map(({ pid }) => pid),
    );
});

afterAll(async () => {
  await fleet.close();
});

describeLife(fleetOf);
describeCrashes(fleetOf);
describeUnits(fleetOf);

describe("all of that", () => {
  it.each(PLACES)(
    "$title: another server of the same user went on through it, as the same processes",
    ({ name }) => {
      expect(neighbours.get(name)?.length).toBeGreaterThan(2);
      expect(fleet.processes(neighbourOf(name)).map(({ pid }) => pid)).toEqual(neighbours.get(name));
    },
  );
});

describeBoots(fleetOf);
describeReturns(fleetOf);
describeEnding(fleetOf, alone, empty);
