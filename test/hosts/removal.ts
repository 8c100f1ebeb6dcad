import { createServer, type Server } from "node:net";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually";
import { filesIn } from "../support/inside-host";
import { declare } from "./one-machine";
import { JUDGE, NAMES, NEIGHBOUR, type OperatedHost } from "./operated-host";
import type { Traces } from "./site";

/** What docs/operations.md says of removing by hand. */

const NOTHING_LIVES = "Look that nothing lives";
const FILES = "Take away its files";
const STATE = "/home/ann/.local/state/pulumi-vllm";

export function describeRemoval(hostOf: () => OperatedHost): void {
  describe("how to remove by hand", () => {
    it("takes each away with all that is its own, and touches nobody else's", async () => {
      const host = hostOf();
      const before = new Map([...NAMES, NEIGHBOUR].map((name) => [name, host.pids(name)]));
      const expectUntouched = (...names: readonly string[]): void => {
        for (const name of names) expect(host.pids(name)).toEqual(before.get(name));
      };

      await removeByHand(host, "chat");
      expect(JSON.stringify(tracesOf(host))).not.toContain(host.id("chat"));
      expectUntouched("embed", JUDGE, NEIGHBOUR);

      await killSupervisor(host);
      await removeByHand(host, JUDGE);
      expect(tracesOf(host)).toMatchObject({
        processes: host.processes("embed").map(({ pid }) => pid),
        state: [host.id("embed")],
        temporary: [],
      });
      expect(tracesOf(host).sharedMemory).toHaveLength(2);
      expectUntouched("embed", NEIGHBOUR);

      await removeByHand(host, "embed");
      expect(tracesOf(host)).toEqual(besideNeighbour(host));
      expectUntouched(NEIGHBOUR);

      await host.run("refresh");
      const known = (await host.place.project.servers()).map(({ id }) => id);
      expect(known).toEqual([host.id(NEIGHBOUR)]);
    });

    it("takes away all of an account, an installation that goes on too", async () => {
      const host = hostOf();
      const neighbours = host.pids(NEIGHBOUR);
      await host.run("up");
      const index = await listenSilently(host.place.outside);
      try {
        await beginInstallation(host, index);
        for (const name of NAMES) await removeByHand(host, name);
        await eventually("what the killed CLI ran there has noticed", () => (isFree(host) ? true : null));
        expect(tracesOf(host).processes).toHaveLength(1);
        host.page.type("All of an account", 0);
        await eventually("the installation has ended", () =>
          tracesOf(host).processes.length === 0 ? true : null,
        );
        // It was told to: of its own accord it ends with a result.
        expect(filesIn(host.place.machine, `${STATE}/jobs`).filter((path) => /results/.test(path))).toEqual(
          [],
        );
        host.page.type("All of an account", 1);
      } finally {
        index.close();
      }
      expect(tracesOf(host)).toEqual(besideNeighbour(host));
      expect(filesIn(host.place.machine, STATE)).toEqual([]);
      expect(host.pids(NEIGHBOUR)).toEqual(neighbours);
      const looked = host.page.type("What it looks like when it is done", 0).split("\n");
      expect(looked.filter((line) => !/^(UNIT FILE .*|0 unit files listed\.|)$/.test(line))).toEqual([
        `ls: cannot access '${STATE}': No such file or directory`,
        expect.stringMatching(/^\d+, GPU-\S+, \d+ MiB$/),
      ]);
    });
  });
}

const tracesOf = (host: OperatedHost): Traces => host.place.site("ann").traces();

/** As before the first `up`; only the GPU of the neighbour is in use. */
function besideNeighbour(host: OperatedHost): unknown {
  const gpu = Number(String(host.outputs(NEIGHBOUR)["gpuUuids"]).slice(-2));
  const gpuMemoryMib = host.empty.gpuMemoryMib.map((idle, index) =>
    index === gpu ? expect.not.stringContaining(String(idle)) : idle,
  );
  return { ...host.empty, gpuMemoryMib };
}

async function removeByHand(host: OperatedHost, name: string): Promise<void> {
  const { page } = host;
  const id = host.id(name);
  const isSupervised = name === JUDGE;
  page.type(isSupervised ? "process" : `End it: ${String(host.outputs(name)["manager"])}`, 0, id);
  await eventually(`nothing lives of ${name}`, () => (page.type(NOTHING_LIVES, 0, id) === "" ? true : null));
  if (isSupervised)
    await eventually("its supervisor is gone", () =>
      page.type("End it: process", 0, id).includes(" pvllm-") ? null : true,
    );
  page.type(FILES, isSupervised ? 1 : 0, id);
  page.type(FILES, 2, id);
}

/** So that nobody takes away what the server leaves. Its processes are held: a SIGTERM does not end them, and they tidy up nothing. */
async function killSupervisor(host: OperatedHost): Promise<void> {
  const { page, place } = host;
  const id = host.id(JUDGE);
  const supervisor = place
    .site("ann")
    .processes()
    .find(({ server }) => server === null);
  const shown = page.type("End it: process", 0, id);
  expect(shown).toMatch(new RegExp(`\n *${String(supervisor?.pidInside)} .* pvllm-judge`));
  process.kill(supervisor?.pid ?? 0, "SIGKILL");
  const held = host.processes(JUDGE);
  for (const { pid } of held) process.kill(pid, "SIGSTOP");
  page.type("process", 0, id);
  const seen = page.type(NOTHING_LIVES, 0, id).trim().split("\n").sort();
  expect(seen).toEqual(held.map(({ pidInside }) => `/proc/${String(pidInside)}/environ`).sort());
  page.type(NOTHING_LIVES, 1, id);
  await eventually("the held ones have ended", () => (host.processes(JUDGE).length === 0 ? true : null));
  expect(tracesOf(host).sharedMemory).toHaveLength(4);
  expect(tracesOf(host).temporary).toHaveLength(1);
}

/** An index of packages that takes connections and answers nothing. */
async function listenSilently(address: string): Promise<Server> {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return server;
}

/** Whether nobody works on the server that is being installed for: an agent holds the lock, and would begin the installation anew. */
function isFree(host: OperatedHost): boolean {
  const tried = `flock --nonblock ${STATE}/late-*/lock echo free || true`;
  return host.place.machine.run(tried, "ann") === "free\n";
}

/** Of a vLLM for another server of ann; the CLI that began it is killed, and goes on no more. */
async function beginInstallation(host: OperatedHost, index: Server): Promise<void> {
  const { place } = host;
  const address = index.address();
  if (address === null || typeof address === "string") throw new Error("the index has no port");
  const indexUrl = `http://${place.outside}:${String(address.port)}/simple`;
  const vllm = { version: "0.32.0", indexUrl };
  const project = await place.anotherProject();
  await declare(project, { late: await place.server("ann", { vllm }) });
  const up = project.start("up");
  const hasBegun = (): boolean =>
    filesIn(place.machine, `${STATE}/jobs`).some((path) => path.endsWith("/job.json"));
  await eventually("the installation goes on", () => (hasBegun() ? true : null));
  up.kill("SIGKILL");
  await up.result;
  expect((await project.cancel()).code).toBe(0);
}
