import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually";
import { insidePath } from "../support/inside-host";
import type { Fleet, Run } from "./fleet";
import { ON_SYSTEMD, type Place } from "./places";

/** What an administrator does to a unit with systemctl and an editor. */

export function describeUnits(fleetOf: () => Fleet): void {
  const systemctl = ({ name, manager, machine }: Place, words: string): string => {
    const [scope, user] = manager === "systemd" ? ["", undefined] : ["--user", name];
    return fleetOf().machines[machine ?? "gpu1"].run(`systemctl ${scope} ${words}`, user);
  };
  const serviceOf = ({ name }: Place): string => String(fleetOf().outputs(name)["serviceName"]);
  const shown = (place: Place, property: string): string =>
    systemctl(place, `show --value --property ${property} ${serviceOf(place)}`).trim();
  const unitPath = (place: Place): string => shown(place, "FragmentPath");
  const unitText = (place: Place): string =>
    readFileSync(insidePath(fleetOf().machines[place.machine ?? "gpu1"], unitPath(place)), "utf8");

  describe("a server that an administrator stops with systemctl", () => {
    let refresh: Run;
    const generations = new Map<string, number>();
    beforeAll(async () => {
      const fleet = fleetOf();
      for (const place of ON_SYSTEMD) {
        generations.set(place.name, Number(fleet.outputs(place.name)["generation"]));
        systemctl(place, `stop ${serviceOf(place)}`);
      }
      refresh = await fleet.run("refresh");
    });

    it.each(ON_SYSTEMD)("$title: stays stopped, and refresh says stopped", ({ name }) => {
      expect(fleetOf().processes(name)).toEqual([]);
      expect(refresh.said(name)).toContain("it is stopped");
      expect(fleetOf().outputs(name)).toMatchObject({ status: "stopped", pid: null });
    });

    it("is started by the next up", async () => {
      const fleet = fleetOf();
      await fleet.run("up");
      expect(
        ON_SYSTEMD.map(({ name }) => [
          name,
          fleet.outputs(name)["status"],
          fleet.outputs(name)["generation"],
        ]),
      ).toEqual(ON_SYSTEMD.map(({ name }) => [name, "ready", (generations.get(name) ?? 0) + 1]));
    });
  });

  describe("a unit that was edited and disabled by hand", () => {
    let refresh: Run;
    let up: Run;
    const texts = new Map<string, string>();
    const pids = new Map<string, unknown>();
    const drift = new Map<string, unknown>();
    beforeAll(async () => {
      const fleet = fleetOf();
      for (const place of ON_SYSTEMD) {
        const { name, machine } = place;
        texts.set(name, unitText(place));
        pids.set(name, fleet.outputs(name)["pid"]);
        fleet.machines[machine ?? "gpu1"].run(
          `sed -i 's/^RestartSec=.*/RestartSec=77/' '${unitPath(place)}'`,
        );
        systemctl(place, `disable ${serviceOf(place)}`);
        systemctl(place, "daemon-reload");
      }
      refresh = await fleet.run("refresh");
      for (const { name } of ON_SYSTEMD) drift.set(name, fleet.outputs(name)["drift"]);
      up = await fleet.run("up");
    });

    it.each(ON_SYSTEMD)("$title: is seen by refresh", ({ name }) => {
      expect(refresh.said(name)).toMatch(/warning: .*edited/);
      expect(refresh.said(name)).toMatch(/warning: .*(disabled|not start at boot)/);
      expect(drift.get(name)).toHaveLength(2);
    });

    it.each(ON_SYSTEMD)("$title: is put right by up, and the server goes on", async (place) => {
      const { name } = place;
      expect(up.said(name)).not.toMatch(/error/);
      expect(fleetOf().outputs(name)).toMatchObject({
        status: "ready",
        drift: [],
        startsOnBoot: true,
        pid: pids.get(name),
      });
      expect(unitText(place)).toBe(texts.get(name));
      await eventually("systemd has read it", () => (shown(place, "RestartUSec") === "500ms" ? true : null));
      expect(shown(place, "UnitFileState")).toBe("enabled");
    });
  });
}
