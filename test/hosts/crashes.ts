import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually";
import { sharedMemoryOf } from "../support/host-processes";
import { killQuietly } from "../support/process-tree";
import { neighbourOf, type Fleet, type Run } from "./fleet";
import { PLACES } from "./places";
import { apiServerOf, servingAgain } from "./serving";

/** A server that dies while no CLI runs. */

interface Death {
  readonly pids: readonly number[];
  readonly sharedMemory: readonly string[];
  readonly downSeconds: number;
}

export function describeCrashes(fleetOf: () => Fleet): void {
  describe("an API server that is killed with -9", () => {
    let deaths: ReadonlyMap<string, Death>;
    let run: Run;
    beforeAll(async () => {
      deaths = await afterDeathOf(fleetOf(), (name) => apiServerOf(fleetOf(), name).pid);
      run = await fleetOf().run("refresh");
    });

    it.each(PLACES)(
      "$title: is started again after the delay, and nothing of the start before is left",
      ({ name }) => {
        const fleet = fleetOf();
        const death = deaths.get(name);
        expect(death?.downSeconds).toBeGreaterThan(0.5);
        expect(death?.pids.length).toBeGreaterThan(2);
        expect(fleet.processes(name).filter(({ pid }) => death?.pids.includes(pid))).toEqual([]);
        expect(death?.sharedMemory.length).toBeGreaterThan(0);
        const left = fleet.site(name).traces().sharedMemory;
        expect(death?.sharedMemory.filter((path) => left.includes(path))).toEqual([]);
        expect(fleet.sharedMemoryOfNobody(name)).toEqual([]);
        expect(fleet.outputs(name)).toMatchObject({ status: "ready", drift: [], generation: 3, restarts: 1 });
      },
    );

    it.each(PLACES)("$title: refresh says so", ({ name }) => {
      expect(run.said(name)).toContain("it died (signal 9) and came back by itself (1 automatic restart");
    });
  });

  describe("an engine that dies, upon which vLLM ends with exit code 0", () => {
    let run: Run;
    beforeAll(async () => {
      const engineOf = (name: string): number => {
        const engine = fleetOf()
          .processes(name)
          .find(({ command }) => command.startsWith("VLLM::EngineCore"));
        return engine?.pid ?? 0;
      };
      await afterDeathOf(fleetOf(), engineOf);
      run = await fleetOf().run("refresh");
    });

    it.each(PLACES)("$title: is started again all the same", ({ name }) => {
      expect(fleetOf().outputs(name)).toMatchObject({
        status: "ready",
        drift: [],
        generation: 4,
        restarts: 2,
      });
      expect(run.said(name)).toContain("it died (exit code 0) and came back by itself (2 automatic restarts");
      expect(fleetOf().sharedMemoryOfNobody(name)).toEqual([]);
    });
  });

  describe("a server that dies again and again", () => {
    let run: Run;
    let free: ReadonlyMap<string, readonly number[]>;
    beforeAll(async () => {
      const fleet = fleetOf();
      // A new start: the automatic ones before do not count. One may follow.
      await fleet.declare(() => ({
        engine: { servedModelName: ["tiny"], maxModelLen: 63 },
        service: { restart: { max: 1, delaySeconds: 0.5 } },
      }));
      await fleet.run("up");
      await afterDeathOf(fleet, (name) => apiServerOf(fleet, name).pid);
      for (const { name } of PLACES) killQuietly(apiServerOf(fleet, name).pid);
      for (const { name } of PLACES)
        await eventually(`nothing of ${name} is left`, () =>
          fleet.processes(name).length === 0 ? true : null,
        );
      run = await fleet.run("refresh");
      free = new Map(PLACES.map(({ name }) => [name, fleet.site(name).traces().gpuMemoryMib]));
    });

    it.each(PLACES)(
      "$title: is left alone at the limit, with its GPU free, and refresh says crash-looping",
      ({ name }) => {
        const fleet = fleetOf();
        expect(fleet.outputs(name)).toMatchObject({ status: "crash-looping", generation: 6, pid: null });
        expect(run.said(name)).toMatch(/warning: .*signal 9/);
        expect(fleet.sharedMemoryOfNobody(name)).toEqual([]);
        // Only neighbours hold memory: two users share each machine.
        const held = (free.get(name) ?? []).filter((mib) => mib > 1000);
        expect(held).toHaveLength(PLACES.find((place) => place.name === name)?.machine === null ? 1 : 2);
        expect(fleet.outputs(neighbourOf(name))).toMatchObject({ status: "ready", generation: 1 });
      },
    );

    it("is started by the next up", async () => {
      const fleet = fleetOf();
      await fleet.declare(() => ({}));
      const up = await fleet.run("up");
      expect(
        PLACES.map(({ name }) => [name, fleet.outputs(name)["status"], fleet.outputs(name)["generation"]]),
      ).toEqual(PLACES.map(({ name }) => [name, "ready", 7]));
      expect(up.code).toBe(0);
    });
  });
}

/** Kills one process of every server and waits until each serves again. */
async function afterDeathOf(
  fleet: Fleet,
  victimOf: (name: string) => number,
): Promise<ReadonlyMap<string, Death>> {
  const before = PLACES.map(({ name }) => {
    const pids = fleet.processes(name).map(({ pid }) => pid);
    return {
      name,
      pids,
      apiServer: apiServerOf(fleet, name).pid,
      sharedMemory: [...new Set(pids.flatMap(sharedMemoryOf))],
      victim: victimOf(name),
    };
  });
  const began = Date.now();
  for (const { victim } of before) killQuietly(victim);
  const deaths = before.map(async ({ name, pids, sharedMemory, apiServer }) => {
    await servingAgain(fleet, name, apiServer);
    return [name, { pids, sharedMemory, downSeconds: (Date.now() - began) / 1000 }] as const;
  });
  return new Map(await Promise.all(deaths));
}
