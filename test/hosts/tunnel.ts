import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeBinFolder, repositoryFolder } from "../../scripts/places.mjs";
import { capture, type RunResult } from "../../scripts/processes.mjs";
import { eventually } from "../support/eventually";
import { freePort } from "../support/free-port";
import { processesOfHosts } from "../support/host-processes";
import { homeThatKnowsMachine, type MachineHome } from "../support/machine-home";
import { PulumiProject } from "../support/pulumi-cli";
import { STAND_IN_EXECUTABLE } from "../support/systemd-host";
import type { OperatedHost } from "./operated-host";
import type { Traces } from "./site";

/** examples/automation-api with a server on a loopback that is not ours: what it answers comes through the tunnel. */

export function describeTunnel(hostOf: () => OperatedHost): void {
  describe("examples/automation-api", () => {
    let home: MachineHome;
    let own: PulumiProject;
    let before: Traces;

    beforeAll(async () => {
      const { machine } = hostOf().place;
      home = homeThatKnowsMachine(machine, "ann");
      machine.run(`echo 'PATH=${dirname(STAND_IN_EXECUTABLE)}:$PATH' >>~/.profile`, "ann");
      own = await PulumiProject.create({ copyOf: join(repositoryFolder, "examples/automation-api") });
      before = tracesOf(hostOf());
    });

    afterAll(async () => {
      await own.remove();
      home.remove();
    });

    const ask = (port: number): Promise<RunResult> =>
      capture(join(nodeBinFolder, "node"), ["index.ts", "gpu1", "/srv/tiny", "2 and 2 is", String(port)], {
        cwd: own.folder,
        env: { ...own.env, ...home.environment(own.env["PATH"] ?? "") },
      });
    const expectNothingLeft = async (): Promise<void> => {
      await eventually("what it started here has ended, the tunnel too", () =>
        processesOfHosts([home.folder]).length === 0 ? true : null,
      );
      expect([await own.servers(), tracesOf(hostOf())]).toEqual([[], before]);
    };

    it("prints what comes through the tunnel, and leaves neither tunnel nor server", async () => {
      const port = await freePort("127.0.0.1");
      const { code, stdout, stderr } = await ask(port);
      expect(code, stderr).toBe(0);
      expect(stdout).toMatch(/^the quick brown fox(?: \w+){60}\n$/);
      expect(home.sshCalls()).toEqual([tunnelTo(port)]);
      await expectNothingLeft();
    });

    it("says so where the tunnel cannot open, and leaves nothing either", async () => {
      const port = await freePort("127.0.0.1");
      const stranger = createServer((socket) => socket.destroy());
      await new Promise<void>((resolve) => stranger.listen(port, "127.0.0.1", resolve));
      try {
        const { code, stdout, stderr } = await ask(port);
        expect([code, stdout]).toEqual([1, ""]);
        expect(stderr).toContain("Error: Cannot reach llm: the tunnel has no port on this machine");
        expect(stderr).toContain(`address already in use 127.0.0.1:${String(port)}`);
        expect(home.sshCalls()).not.toContain(tunnelTo(port));
      } finally {
        stranger.close();
      }
      await expectNothingLeft();
    });
  });
}

const tracesOf = (host: OperatedHost): Traces => host.place.site("ann").traces();

function tunnelTo(port: number): string {
  return `-N -L ${String(port)}:127.0.0.1:${String(port)} gpu1`;
}
