import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually";
import { sharedMemoryOf } from "../support/host-processes";
import { homeThatKnowsMachine } from "../support/machine-home";
import { NAMES, NEIGHBOUR, OF_ANN, OperatedHost } from "./operated-host";
import { describeRemoval } from "./removal";
import { describeTunnel } from "./tunnel";

/** docs/operations.md, typed block by block on a machine. In order: each part finds what the one before has left. */

let host: OperatedHost;
const ALL = [...NAMES, NEIGHBOUR];

beforeAll(async () => {
  host = await OperatedHost.make();
});

afterAll(async () => {
  await host.place.close();
});

describe("how to look", () => {
  it("tells which servers there are, whose they are, and what runs of all accounts", () => {
    const listed = host.page.type("How to look: on the host", 0);
    for (const name of NAMES) {
      expect(listed).toContain(`/home/ann/.local/state/pulumi-vllm/${host.id(name)}\n`);
      expect(listed).toContain(
        `"urn": "urn:pulumi:dev::project0::pulumi-nodejs:dynamic/vllm:VllmServer::${name}"`,
      );
    }
    for (const name of ["chat", "embed"])
      expect(listed).toMatch(new RegExp(`pulumi-vllm-${host.id(name)}\\.service +loaded active +running`));
    expect(listed).not.toContain(host.id(NEIGHBOUR));
    const counted = host.page.type("How to look: on the host", 1).trim().split("\n");
    const expected = ALL.map(
      (name) => `${String(host.pids(name).length)} PULUMI_VLLM_SERVER=${host.id(name)}`,
    );
    expect(counted.map((line) => line.trim()).sort()).toEqual(expected.sort());
  });

  it.each(NAMES)("tells of %s its processes, its port, its health and its manager", (name) => {
    const heading = "Its processes and how it is";
    const { manager, pid } = host.outputs(name);
    const seen = host.page.type(heading, 0, host.id(name));
    expect(seen).toContain(`"manager": "${String(manager)}"`);
    const rows = seen.split("\n").filter((line) => / ann +\d/.test(line));
    expect(rows.map((line) => Number.parseInt(line, 10)).sort()).toEqual([...host.pids(name)].sort());
    expect(seen).toMatch(new RegExp(`127\\.0\\.0\\.1:${String(host.port(name))} .*pid=${String(pid)},`));
    expect(seen).toMatch(/\n200\n$/);
    const number = Object.values(OF_ANN).findIndex((one) => one === manager) + 1;
    expect(host.page.type(heading, number, host.id(name))).toMatch(
      new RegExp(`Main PID: ${String(pid)} |"leader": \\{\\n *"pid": ${String(pid)},`),
    );
  });

  it.each(NAMES)("tells of %s its log, its configuration, its secrets and its shared memory", (name) => {
    const files = host.page.type("Its log, its configuration, its secrets", 0, host.id(name));
    expect(files).toMatch(/^1\.log\n/);
    expect(files).toContain("Application startup complete.");
    expect(files).toContain(`\nport: ${String(host.port(name))}\n`);
    expect(files).toContain(`\n600 ann /home/ann/.local/state/pulumi-vllm/${host.id(name)}/secrets.json\n`);
    const number = host.outputs(name)["manager"] === "process" ? 2 : 1;
    const seen = host.page.type("Who holds a GPU, and what is in shared memory", number, host.id(name));
    const names = seen.split("\n").filter((line) => /^psm_\w+$/.test(line));
    const mapped = new Set(host.processes(name).flatMap(({ pid }) => sharedMemoryOf(pid)));
    expect(names.map((line) => `/dev/shm/${line}`).sort()).toEqual([...mapped].sort());
  });

  it("tells who holds which GPU, and whose process that is", () => {
    const seen = host.page.type("Who holds a GPU, and what is in shared memory", 0, host.id("chat"));
    for (const name of NAMES)
      expect(seen).toContain(`/${host.id(name)}/launch.json:  "${String(host.outputs(name)["gpuUuids"])}"`);
    const holders = [...seen.matchAll(/^ *(\d+) (\w+) .*\nPULUMI_VLLM_SERVER=(.*)$/gm)];
    const named = holders.map(([, pid, user, id]) => {
      const name = ALL.find((one) => host.id(one) === id) ?? "";
      return [name, user, host.pids(name).includes(Number(pid))];
    });
    expect(named.sort()).toEqual(ALL.map((name) => [name, name === NEIGHBOUR ? "cid" : "ann", true]).sort());
  });
});

describe("how to look from where Pulumi runs", () => {
  it("tells how each server is, its log, and what is on the host", () => {
    const { machine, project } = host.place;
    const home = homeThatKnowsMachine(machine, "ann");
    try {
      const text = host.page.textOf("How to look: from where Pulumi runs", 0);
      const env = { ...project.env, ...home.environment(project.env["PATH"] ?? "") };
      const printed = execFileSync("bash", ["-e", "-c", text], {
        cwd: project.folder,
        // Nobody is there to say yes.
        env: { ...env, PULUMI_SKIP_CONFIRMATIONS: "true" },
        encoding: "utf8",
      });
      const told = printed.replace(/\s+/g, " ");
      expect(told).toContain("5 unchanged");
      expect(told).toContain("Application startup complete.");
      for (const name of NAMES) {
        const { manager } = host.outputs(name);
        expect(told).toContain(
          `${name} (project0/dev): ready, 127.0.0.1:${String(host.port(name))}, ${String(manager)}`,
        );
      }
    } finally {
      home.remove();
    }
  });
});

describe("how to stop and start by hand", () => {
  it("stops each and leaves the others; refresh says so; what was started again is as before", async () => {
    const neighbours = host.pids(NEIGHBOUR);
    for (const [name, manager] of Object.entries(OF_ANN)) {
      host.page.type(manager, 0, host.id(name));
      await eventually(`${name} has ended`, () => (host.pids(name).length === 0 ? true : null));
    }
    const told = await host.run("refresh");
    expect(host.each("status")).toEqual(["stopped", "stopped", "stopped"]);
    expect(told).toContain("warning: status: it is stopped");
    for (const name of ["chat", "embed"] as const) {
      host.page.type(OF_ANN[name], 1, host.id(name));
      await eventually(`${name} answers`, () => host.place.site("ann").get(host.port(name), "/health"));
    }
    await host.run("refresh");
    expect(host.each("status")).toEqual(["ready", "ready", "stopped"]);
    expect(host.each("generation")).toEqual([2, 2, 1]);
    expect(host.pids(NEIGHBOUR)).toEqual(neighbours);
  });

  it("disables one; refresh says so; up enables it without a restart, and starts what is stopped", async () => {
    const pids = host.pids("chat");
    host.page.type("systemd", 2, host.id("chat"));
    expect(await host.run("refresh")).toContain(
      `service.startOnBoot: pulumi-vllm-${host.id("chat")}.service is disabled, declared true`,
    );
    await host.run("up");
    expect(host.each("status")).toEqual(["ready", "ready", "ready"]);
    expect(host.each("drift")).toEqual([[], [], []]);
    expect(host.pids("chat")).toEqual(pids);
    expect(host.place.machine.run(`systemctl is-enabled pulumi-vllm-${host.id("chat")}`)).toBe("enabled\n");
  });
});

describe("a server whose state is lost", () => {
  it("is refused with its owner, and taken over as it runs once its record says so", async () => {
    const { project } = host.place;
    const pids = host.pids("chat");
    const chat = (await project.servers()).find(({ id }) => id === host.id("chat"));
    await project.mustRun("state", ["delete", String(chat?.urn)]);
    expect((await project.up()).stdout).toContain(`the host already has this server (${host.id("chat")})`);
    host.page.type("State, owners, keys, another host", 0, host.id("chat"));
    await host.run("up");
    expect(host.outputs("chat")).toMatchObject({ status: "ready", generation: 2 });
    expect(host.pids("chat")).toEqual(pids);
  });
});

describe("when a disk is full", () => {
  it("tells what takes the room", () => {
    const told = host.page.type("When something is stuck", 0);
    expect(told).toMatch(/^Filesystem .*\n(?:.* \/[\w/]*\n){3}/);
    for (const name of NAMES) expect(told).toContain(`/home/ann/.local/state/pulumi-vllm/${host.id(name)}\n`);
  });
});

describeTunnel(() => host);
describeRemoval(() => host);

it("every block of the page has been typed", () => {
  expect(host.page.untyped()).toEqual([]);
});
