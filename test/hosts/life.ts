import { beforeAll, describe, expect, it } from "vitest";
import { isApiServer, neighbourOf, type Fleet, type Outputs, type Run } from "./fleet";
import { ON_SYSTEMD, PLACES } from "./places";

/** What every manager has to do for a server while nothing goes wrong. */

export function describeLife(fleetOf: () => Fleet): void {
  describe("up", () => {
    let run: Run;
    beforeAll(async () => {
      await fleetOf().declare(() => ({}));
      run = await fleetOf().run("up");
    });

    it.each(PLACES)(
      "$title: it is ready, answers a token, and says who looks after it",
      async ({ name, manager }) => {
        const fleet = fleetOf();
        expect(run.said(name)).toMatch(/info: .*ready in/);
        const seen = fleet.outputs(name);
        const onSystemd = manager !== "process";
        expect(seen).toMatchObject({
          status: "ready",
          drift: [],
          generation: 1,
          manager,
          serviceName: onSystemd ? `pulumi-vllm-${fleet.serverId(name)}.service` : null,
          startsOnBoot: onSystemd,
        });
        expect(await fleet.site(name).complete(fleet.port(name))).toMatchObject({
          model: "tiny",
          system_fingerprint: seen["configHash"],
        });
        const [apiServer, ...others] = fleet.processes(name);
        expect(apiServer?.pidInside).toBe(seen["pid"]);
        expect(others.some(isApiServer)).toBe(false);
      },
    );

    it.each(ON_SYSTEMD)(
      "$title: systemctl tells an administrator what it is and who manages it",
      ({ name, manager, machine }) => {
        const fleet = fleetOf();
        const service = String(fleet.outputs(name)["serviceName"]);
        const [user, scope] = manager === "systemd" ? [undefined, ""] : [name, "--user"];
        const told = fleet.machines[machine ?? "gpu1"].run(
          `systemctl ${scope} status --no-pager --full ${service}`,
          user,
        );
        expect(told).toMatch(new RegExp(`vLLM server .*\\b${name}\\b.*managed by pulumi-vllm`));
        expect(told).toMatch(/Loaded: loaded \(.*; enabled; /);
        expect(told).toMatch(/Active: active \(running\)/);
        expect(told).toContain(`Main PID: ${String(fleet.outputs(name)["pid"])} (`);
        expect(told).toContain("VLLM::EngineCore");
      },
    );

    it("process: says on the resource's line that it will not start at boot, and why no better manager was taken", () => {
      expect(run.said("cid")).toMatch(
        /it will not start at boot, which takes systemd: .*\(.*sudo.*; .*linger/,
      );
      expect(run.said("own")).toMatch(/it will not start at boot.*systemd does not run this host/);
    });
  });

  describe("up again", () => {
    it("touches nothing: same processes, nothing to do", async () => {
      const fleet = fleetOf();
      const before = PLACES.map(({ name }) => fleet.processes(name).map(({ pid }) => pid));
      const run = await fleet.run("up");
      expect(run.code).toBe(0);
      expect(PLACES.map(({ name }) => fleet.processes(name).map(({ pid }) => pid))).toEqual(before);
    });
  });

  describe("a changed argument", () => {
    const before = new Map<string, Outputs>();
    beforeAll(async () => {
      const fleet = fleetOf();
      for (const { name } of PLACES) before.set(name, fleet.outputs(name));
      await fleet.declare(() => ({ engine: { servedModelName: ["tiny"], maxModelLen: 64 } }));
      await fleet.run("up");
    });

    it.each(PLACES)("$title: starts it anew, once, on the same GPUs", ({ name }) => {
      const fleet = fleetOf();
      expect(fleet.outputs(name)).toMatchObject({
        status: "ready",
        drift: [],
        maxModelLen: 64,
        generation: 2,
        restarts: 0,
        gpuUuids: before.get(name)?.["gpuUuids"],
      });
      expect(fleet.outputs(name)["pid"]).not.toBe(before.get(name)?.["pid"]);
      expect(fleet.processes(name).filter(isApiServer)).toHaveLength(1);
    });

    it.each(PLACES)("$title: leaves another server of the same user alone", ({ name }) => {
      const fleet = fleetOf();
      expect(fleet.outputs(neighbourOf(name))).toMatchObject({ status: "ready", generation: 1 });
      expect(fleet.outputs(neighbourOf(name))["gpuUuids"]).not.toEqual(before.get(name)?.["gpuUuids"]);
    });
  });
}
