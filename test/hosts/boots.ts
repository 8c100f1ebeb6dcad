import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually";
import { insidePath } from "../support/inside-host";
import { isApiServer, neighbourOf, type Fleet, type Outputs, type Run } from "./fleet";
import { ON_MACHINES, ON_SYSTEMD, type Place } from "./places";
import { apiServerOf, servingAgain } from "./serving";

/** A machine whose power fails and comes back. */

export function describeBoots(fleetOf: () => Fleet): void {
  const powerCycle = async (): Promise<void> => {
    const machines = Object.values(fleetOf().machines);
    await Promise.all(machines.map((machine) => machine.powerOff()));
    await Promise.all(machines.map((machine) => machine.powerOn()));
  };
  const inside = ({ machine }: Place, path: string): string =>
    insidePath(fleetOf().machines[machine ?? "gpu1"], path);

  describe("a power cycle while it serves", () => {
    const before = new Map<string, Outputs>();
    const stale = new Map<string, string>();
    let refresh: Run;
    let afterRefresh: ReadonlyMap<string, Outputs>;
    beforeAll(async () => {
      const fleet = fleetOf();
      for (const place of ON_MACHINES) {
        before.set(place.name, fleet.outputs(place.name));
        const environment = readFileSync(
          `/proc/${String(apiServerOf(fleet, place.name).pid)}/environ`,
          "utf8",
        );
        const folder = /(?:^|\0)TMPDIR=([^\0]+)/.exec(environment)?.[1] ?? "";
        stale.set(place.name, join(folder, "left-by-the-boot-before"));
        writeFileSync(inside(place, join(folder, "left-by-the-boot-before")), "");
      }
      await powerCycle();
      await Promise.all(ON_SYSTEMD.map(({ name }) => servingAgain(fleet, name, null)));
      refresh = await fleet.run("refresh");
      afterRefresh = new Map(ON_MACHINES.map(({ name }) => [name, fleet.outputs(name)]));
    });

    it.each(ON_SYSTEMD)(
      "$title: it comes back by itself, on the same GPUs, counted, without the old boot's files",
      (place) => {
        const { name } = place;
        expect(afterRefresh.get(name)).toMatchObject({
          status: "ready",
          drift: [],
          gpuUuids: before.get(name)?.["gpuUuids"],
          generation: Number(before.get(name)?.["generation"]) + 1,
        });
        expect(afterRefresh.get(name)?.["bootId"]).not.toBe(before.get(name)?.["bootId"]);
        expect(existsSync(inside(place, stale.get(name) ?? ""))).toBe(false);
        expect(fleetOf().processes(name).filter(isApiServer)).toHaveLength(1);
      },
    );

    it.each(ON_SYSTEMD)(
      "$title: what bounds the log and notes shared memory runs again",
      ({ name, manager, machine }) => {
        const [user, scope] = manager === "systemd" ? [undefined, ""] : [name, "--user"];
        const timers = [name, neighbourOf(name)].map(
          (one) => `pulumi-vllm-${fleetOf().serverId(one)}-watch.timer`,
        );
        const told = fleetOf().machines[machine ?? "gpu1"].run(
          `systemctl ${scope} is-active ${timers.join(" ")} || true`,
          user,
        );
        expect(told.trim().split("\n")).toEqual(["active", "active"]);
      },
    );

    it.each(ON_MACHINES)("$title: refresh says rebooted", ({ name }) => {
      expect(refresh.said(name)).toMatch(/warning: .*rebooted/);
    });

    it("process: it is down until up --refresh starts it, on the same GPUs", async () => {
      const fleet = fleetOf();
      expect(afterRefresh.get("cid")).toMatchObject({
        status: "rebooted",
        drift: ["status: the host was rebooted"],
        pid: null,
      });
      const pids = ON_SYSTEMD.map(({ name }) => fleet.outputs(name)["pid"]);
      const up = await fleet.run("up", ["--refresh"]);
      expect(up.code).toBe(0);
      expect(fleet.outputs("cid")).toMatchObject({
        status: "ready",
        gpuUuids: before.get("cid")?.["gpuUuids"],
        generation: Number(before.get("cid")?.["generation"]) + 1,
      });
      expect(ON_SYSTEMD.map(({ name }) => fleet.outputs(name)["pid"])).toEqual(pids);
    });
  });

  // A host starts one server after another: one of each machine at a time.
  const held: string[] = [];
  describe.each([{ names: ["ann", "root"] }, { names: ["cid", "bob"] }])(
    "a power cycle in the middle of the start of $names",
    ({ names }) => {
      const starting = ON_MACHINES.filter(({ name }) => names.includes(name));
      let generations: ReadonlyMap<string, unknown>;
      let ended: Run;
      beforeAll(async () => {
        const fleet = fleetOf();
        generations = new Map(starting.map(({ name }) => [name, fleet.outputs(name)["generation"]]));
        held.push(...names);
        // In memory: the next boot has no such file, and then the start goes on.
        for (const machine of Object.values(fleet.machines)) machine.run("touch /run/hold");
        await fleet.declare(({ name }) =>
          held.includes(name)
            ? { environment: { STAND_IN_START_SECONDS: "0.5", STAND_IN_HOLD: "/run/hold" } }
            : {},
        );
        const former = new Map(starting.map(({ name }) => [name, apiServerOf(fleet, name).pid]));
        const up = fleet.start("up");
        const isStarting = Promise.all(
          starting.map(({ name }) =>
            eventually(`${name} is starting`, () => {
              const found = fleet.processes(name).find(isApiServer);
              return found !== undefined && found.pid !== former.get(name) ? true : null;
            }),
          ),
        );
        // Also when it did not come so far: the CLI has to end.
        await isStarting.finally(powerCycle).finally(() => up);
        ended = await fleet.finish(await up);
        await fleet.run("up", ["--refresh"]);
      });

      it.each(starting)(
        "$title: up goes on with it or fails with words, and the next up has it ready, once",
        ({ name }) => {
          const fleet = fleetOf();
          expect(ended.said(name)).toMatch(/ready in|error: [^]*Cannot/);
          expect(fleet.outputs(name)).toMatchObject({ status: "ready", drift: [] });
          expect(fleet.processes(name).filter(isApiServer)).toHaveLength(1);
          expect(Number(fleet.outputs(name)["generation"])).toBeGreaterThan(
            Number(generations.get(name)) + 1,
          );
        },
      );
    },
  );
}
