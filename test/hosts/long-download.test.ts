import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sizeText } from "../../provider/src/core/amount-text";
import { ensureHf } from "../../scripts/setup-hf.mjs";
import { environmentFolders } from "../support/environment-folders";
import { eventually } from "../support/eventually";
import { freePort } from "../support/free-port";
import { startModelHub, type ModelHub } from "../support/model-hub";
import type { RunningPulumi } from "../support/pulumi-cli";
import { bigCheckpoint } from "./big-checkpoint";
import { DownloadSeen } from "./download-seen";
import { declare, makeOneMachine, outputsOf, type OneMachine } from "./one-machine";

/**
 * The hub's real client brings a big checkpoint to a machine, and is cut three times: the network with the CLI, the hub, the power.
 * In order: each part goes on with the download of the one before. How far it is decides when it is cut, never a time.
 */

/** Room for a slow disk; a run takes about three minutes. */
const LONGEST_SECONDS = 900;
const CUTS = 3;

/** Where everything stood while nothing could move. */
interface Cut {
  readonly gets: ReadonlyMap<string, number>;
  readonly complete: readonly string[];
  /** Asked for and not complete. */
  readonly underWay: readonly string[];
}

const checkpoint = bigCheckpoint();
let place: OneMachine;
let hub: ModelHub;
let seen: DownloadSeen;
let port: number;
let up: RunningPulumi;
let streams: number;
const cuts: Cut[] = [];

beforeAll(async () => {
  console.log(checkpoint.told);
  const hf = await ensureHf();
  place = await makeOneMachine({ name: "gpu7", users: [], shows: environmentFolders(hf) });
  place.machine.run(`ln -s ${hf} /usr/local/bin/hf`);
  hub = await startModelHub({
    address: place.outside,
    repositories: { [checkpoint.repository]: checkpoint.served },
  });
  await hub.setFaults([{ kind: "throttle", bytesPerSecond: checkpoint.bytesPerSecond }]);
  seen = new DownloadSeen(place.machine, hub, checkpoint);
  port = await freePort("127.0.0.1");
  const model = { repo: checkpoint.repository, endpoint: hub.url };
  await declare(place.project, { big: await place.server("root", { model, listen: { port } }) });
});

afterAll(async () => {
  // Before the network at whose address it listens.
  await hub.close();
  await place.close();
}, LONGEST_SECONDS * 1000);

/** Resolves when the hub has sent that share of the checkpoint. */
async function sent(share: number): Promise<void> {
  const what = `the hub has sent ${String(share * 100)} % of it`;
  const isSent = async (): Promise<true | null> =>
    (await seen.sent()) >= share * checkpoint.bytes ? true : null;
  const ended = up.result.then(({ stdout }) =>
    Promise.reject(new Error(`up ended before ${what}: ${stdout}`)),
  );
  await Promise.race([eventually(what, isSent, LONGEST_SECONDS), ended]);
}

/** To be called while nothing can move. */
async function note(): Promise<void> {
  // What is complete is looked for last: it can no longer be asked for.
  const gets = await seen.gets();
  const complete = [...seen.files().keys()];
  const underWay = [...gets.keys()].filter((name) => !complete.includes(name));
  cuts.push({ gets, complete, underWay });
}

describe(`a checkpoint of ${checkpoint.told} that is cut ${String(CUTS)} times on its way`, () => {
  it(
    "goes on by itself when the host's network comes back, although the CLI was killed",
    async () => {
      up = place.project.start("up");
      await sent(0.2);
      streams = seen.clients().reduce((sum, client) => sum + client.streams, 0);
      expect((await hub.state()).mostStreams).toBe(streams);
      const clients = seen.clients().map(({ pid }) => pid);
      const said = seen.clientsSaid().length;
      place.machine.unplug();
      up.kill("SIGKILL");
      await up.result;
      expect((await place.project.cancel()).code).toBe(0);
      await eventually("the client says something about it", () =>
        seen.clientsSaid().length > said ? true : null,
      );
      await note();
      const before = await seen.sent();
      place.machine.plugIn();
      await eventually("more comes, and nobody waits for it", async () =>
        (await seen.sent()) > before + 2 * checkpoint.shardBytes ? true : null,
      );
      expect(seen.clients().map(({ pid }) => pid)).toEqual(clients);
    },
    LONGEST_SECONDS * 1000,
  );

  it(
    "goes on in the same up when the hub was away",
    async () => {
      up = place.project.start("up");
      await sent(0.45);
      const clients = seen.clients().map(({ pid }) => pid);
      expect(clients.length).toBeGreaterThan(0);
      await hub.goAway();
      await note();
      await eventually("another client tries", () =>
        seen.clients().some(({ pid }) => !clients.includes(pid)) ? true : null,
      );
      expect(await seen.gets()).toEqual(cuts.at(-1)?.gets);
      await hub.comeBack();
      await sent(0.7);
    },
    LONGEST_SECONDS * 1000,
  );

  it(
    "is finished by an up after a power cycle, and the server serves",
    async () => {
      await place.machine.powerOff();
      await note();
      await place.machine.powerOn();
      const { code, stdout } = await up.result;
      if (code !== 0) expect(stdout).toMatch(/Cannot /);
      const last = await place.project.up();
      expect({ code: last.code, stderr: last.stderr }).toEqual({ code: 0, stderr: "" });
      const { big } = await outputsOf(place.project);
      expect(big).toMatchObject({ status: "ready", drift: [], modelRevision: checkpoint.revision });
      expect(await place.site("root").complete(port)).toMatchObject({ model: "tiny" });
    },
    LONGEST_SECONDS * 1000,
  );

  it("has every file in its size, once, and nothing else", async () => {
    const files = seen.files();
    expect([...files.keys()]).toEqual(
      ["config.json", ...checkpoint.shards, "model.safetensors.index.json"].toSorted(),
    );
    expect(checkpoint.shards.map((name) => files.get(name))).toEqual(
      checkpoint.shards.map(() => checkpoint.shardBytes),
    );
    expect(seen.parts()).toEqual([]);
    expect(seen.blobs()).toHaveLength(files.size);
    expect({ clients: seen.clients(), jobs: seen.jobs() }).toEqual({ clients: [], jobs: [] });
  });

  it("asked once for every file that no cut caught, and never again for one that was complete", async () => {
    const gets = await seen.gets();
    expect(cuts).toHaveLength(CUTS);
    for (const cut of cuts) {
      expect(cut.complete.length).toBeGreaterThan(0);
      expect(cut.complete.map((name) => [name, gets.get(name)])).toEqual(
        cut.complete.map((name) => [name, cut.gets.get(name)]),
      );
      expect(cut.underWay.length).toBeGreaterThan(0);
      expect(cut.underWay.length).toBeLessThanOrEqual(streams);
    }
    const caught = new Set(cuts.flatMap(({ underWay }) => underWay));
    const others = [...gets].filter(([name]) => !caught.has(name));
    expect(others).toEqual(others.map(([name]) => [name, 1]));
  });

  it("cost less than a file of each stream for each cut", async () => {
    const beyond = (await seen.sent()) - [...seen.files().values()].reduce((sum, size) => sum + size, 0);
    const most = CUTS * streams;
    const files = (beyond / checkpoint.shardBytes).toFixed(2);
    const caught = cuts.map(({ underWay }) => underWay.length).join(", ");
    console.log(
      `${checkpoint.told}: ${sizeText(beyond)} came twice, ${files} shards of at most ${String(most)} (${String(CUTS)} cuts, ${String(streams)} streams; the cuts caught ${caught} files)`,
    );
    expect(beyond).toBeGreaterThanOrEqual(0);
    expect(beyond).toBeLessThan(most * checkpoint.shardBytes);
  });
});
