import { beforeAll, describe, expect, it } from "vitest";
import { isApiServer, type Fleet, type Outputs, type Run } from "./fleet";
import { PLACES } from "./places";

/** An update whose start fails: what served before serves again, by the manager that looked after it. */

export function describeReturns(fleetOf: () => Fleet): void {
  describe("an update that does not start", () => {
    const before = new Map<string, Outputs>();
    let run: Run;
    beforeAll(async () => {
      const fleet = fleetOf();
      await fleet.declare(() => ({}));
      await fleet.run("up");
      for (const { name } of PLACES) before.set(name, fleet.outputs(name));
      await fleet.declare(() => ({
        engine: { servedModelName: ["other"], maxModelLen: 62 },
        environment: { STAND_IN_START_SECONDS: "0.5", STAND_IN_FAIL: "oom" },
      }));
      run = await fleet.run("up");
    });

    it.each(PLACES)("$title: fails, and what served before serves again", async ({ name, manager }) => {
      const fleet = fleetOf();
      const was = before.get(name);
      expect(run.code).not.toBe(0);
      expect(run.said(name)).toMatch(/what served before \(vLLM [\d.]+\) serves again/);
      const { configHash, gpuUuids, maxModelLen, serviceName } = was ?? {};
      expect(fleet.outputs(name)).toMatchObject({
        status: "ready",
        generation: Number(was?.["generation"]) + 2,
        configHash,
        gpuUuids,
        maxModelLen,
        manager,
        serviceName,
        startsOnBoot: manager !== "process",
      });
      expect(await fleet.site(name).complete(fleet.port(name))).toMatchObject({
        model: "tiny",
        system_fingerprint: configHash,
      });
      expect(fleet.processes(name).filter(isApiServer)).toHaveLength(1);
      expect(fleet.sharedMemoryOfNobody(name)).toEqual([]);
    });

    it("is over when the old declaration stands in the program again: nothing is started for it", async () => {
      const fleet = fleetOf();
      const pids = PLACES.map(({ name }) => fleet.outputs(name)["pid"]);
      await fleet.declare(() => ({}));
      const { code } = await fleet.run("up");
      expect(code).toBe(0);
      expect(PLACES.map(({ name }) => fleet.outputs(name)["drift"])).toEqual(PLACES.map(() => []));
      expect(PLACES.map(({ name }) => fleet.outputs(name)["pid"])).toEqual(pids);
    });
  });
}
