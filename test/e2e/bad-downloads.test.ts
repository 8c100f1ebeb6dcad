import { openSync, readFileSync, statSync, truncateSync, writeSync, closeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TINY_LLAMA } from "../support/checkpoints";
import { freePort } from "../support/free-port";
import { askedFor, askForToken, hubHost, sentOut, type HubHost } from "../support/hub-host";
import type { PulumiResult } from "../support/pulumi-cli";

/** A hub that falls silent or sends other bytes than it should, and a disk that loses some. */

const COMMIT = "a".repeat(40);
const SHARD_BYTES = 1_000_000;
const SHARDS = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"] as const;
const [FIRST, SECOND] = SHARDS;
const FILES = {
  "config.json": { json: TINY_LLAMA },
  "model.safetensors.index.json": { json: { metadata: {}, weight_map: { a: FIRST, b: SECOND } } },
  ...Object.fromEntries(SHARDS.map((name) => [name, { safetensors: SHARD_BYTES }])),
};
const ONCE = Object.fromEntries(Object.keys(FILES).map((name) => [name, 1]));

type Inputs = Readonly<Record<string, unknown>>;

let bed: HubHost;
let server: Inputs;
let port: number;

beforeAll(async () => {
  bed = await hubHost({
    repositories: { "org/tiny": { revisions: [{ sha: COMMIT, refs: ["main"], files: FILES }] } },
  });
  port = await freePort("127.0.0.1");
  server = {
    model: { repo: "org/tiny", revision: COMMIT, endpoint: bed.hub.url },
    vllm: { executable: bed.executable },
    listen: { port },
    engine: { servedModelName: ["tiny"] },
    environment: { STAND_IN_START_SECONDS: "0.5" },
    onDelete: { model: "purge" },
  };
});

afterAll(async () => {
  await bed.close();
});

async function up(changes: Inputs = {}, faults: readonly object[] = []): Promise<PulumiResult> {
  await bed.hub.clearCounts();
  await bed.hub.setFaults(faults);
  await bed.declare({ tiny: { ...server, ...changes } });
  return bed.project.up();
}

const verifying = (verify: string): Inputs => ({
  model: { repo: "org/tiny", revision: COMMIT, endpoint: bed.hub.url, verify },
});
const demandDone = ({ code, stdout, stderr }: PulumiResult): string => {
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  return stdout;
};
const outputs = async (): Promise<Inputs> => (await bed.project.servers())[0]?.outputs ?? {};
const xetOff = (since: number): readonly boolean[] =>
  bed
    .clientCalls()
    .slice(since)
    .map(({ environment }) => environment["HF_HUB_DISABLE_XET"] === "1");

describe("a hub that falls silent in the middle of a file", () => {
  const STALL = { kind: "stall", file: SECOND, afterBytes: 0 };

  it("is asked anew, the second time without Xet, and then it is an error with the numbers; what is whole stays", async () => {
    // The client's own patience ends before the declared one does.
    bed.setLogin({ HF_HUB_DOWNLOAD_TIMEOUT: "1" });
    const { code, stdout } = await up({ timeouts: { download: 16 } }, [STALL]);
    expect(code).not.toBe(0);
    expect(stdout).toMatch(
      /Cannot download org\/tiny@a{12}: no byte came for 16 s, 3 times in a row, the last time without Xet; 3 of 4 files and 1\.0 MB of 2\.0 MB are there, need a hub that goes on sending/,
    );
    const off = xetOff(0);
    expect([off.length > 3, off[0], off.at(-1), off.lastIndexOf(false) < off.indexOf(true)]).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(await sentOut(bed.hub, "org/tiny")).toMatchObject({ ...ONCE, [SECOND]: expect.any(Number) });
    expect(bed.processes()).toEqual([]);
  });

  it("that recovers is taken up where it was: only that file is fetched", async () => {
    // This one would wait for ever: it is ended.
    bed.setLogin({ HF_HUB_DOWNLOAD_TIMEOUT: "3600" });
    const calls = bed.clientCalls().length;
    const stdout = demandDone(await up({ timeouts: { download: 20 } }, [{ ...STALL, times: 1 }]));
    bed.setLogin({});
    expect(stdout).toMatch(/downloaded 1\.0 MB in \d+ s \(4 files, 2\.0 MB, 1\.0 MB were there\)/);
    expect(await sentOut(bed.hub, "org/tiny")).toEqual({ [SECOND]: 2 });
    expect(xetOff(calls)).toEqual([false, false]);
    demandDone(await bed.project.destroy());
  });
});

describe("a shard that arrives other than it should", () => {
  it.each([
    { what: "cut short", verify: "headers", fault: { kind: "short", file: FIRST, toBytes: 700_000 } },
    { what: "with a damaged header", verify: "headers", fault: { kind: "corrupt", file: FIRST, atByte: 9 } },
    { what: "swapped for another one", verify: "full", fault: { kind: "swap", file: FIRST, other: SECOND } },
  ])("$what: is named and fetched again, alone", async ({ verify, fault }) => {
    const stdout = demandDone(await up(verifying(verify), [{ ...fault, times: 1 }]));
    expect(stdout).toContain(`fetched again, because it was broken: ${FIRST}`);
    expect(await sentOut(bed.hub, "org/tiny")).toEqual({ ...ONCE, [FIRST]: 2 });
    expect(await outputs()).toMatchObject({ status: "ready", drift: [] });
    demandDone(await bed.project.destroy());
  });

  it.each([
    {
      what: "cut short",
      verify: "headers",
      fault: { kind: "short", file: FIRST, toBytes: 700_000 },
      why: "it has 700000 bytes, the hub says 1000000",
    },
    {
      what: "swapped",
      verify: "full",
      fault: { kind: "swap", file: FIRST, other: SECOND },
      why: /its hash is [0-9a-f]{12}\.\.\., the hub says [0-9a-f]{12}\.\.\./.source,
    },
  ])(
    "$what again and again: is an error that names it, and nothing is started",
    async ({ verify, fault, why }) => {
      const { code, stdout } = await up(verifying(verify), [fault]);
      expect(code).not.toBe(0);
      expect(stdout).toMatch(
        new RegExp(
          `Cannot use checkpoint org/tiny@a{12}: 1 of its files are not right.*\\n.*${FIRST}: ${why}`,
        ),
      );
      expect(await sentOut(bed.hub, "org/tiny")).toEqual({ ...ONCE, [FIRST]: 2 });
      expect(bed.processes()).toEqual([]);
      await bed.hub.setFaults([]);
      demandDone(await bed.project.destroy());
    },
  );
});

describe("a shard that is damaged on the disk while a server runs", () => {
  /** Where the bytes of a shard lie. */
  const place = (name: string): string => join(bed.snapshot("org/tiny", COMMIT), name);
  const damage = (name: string): void => {
    const file = openSync(place(name), "r+");
    writeSync(file, "??", 9);
    closeSync(file);
  };

  it.each([
    { what: "in its header", hurt: damage },
    {
      what: "cut short",
      hurt: (name: string) => {
        truncateSync(place(name), 1000);
      },
    },
  ])(
    "$what: is named and fetched again, alone, before the server is stopped for its change",
    async ({ hurt }) => {
      demandDone(await up());
      const { pid } = await outputs();
      const whole = readFileSync(place(SECOND));
      hurt(SECOND);
      await bed.hub.clearCounts();
      await bed.hub.setFaults([{ kind: "stall", file: SECOND, afterBytes: 1000 }]);
      await bed.declare({ tiny: { ...server, engine: { servedModelName: ["tiny"], maxModelLen: 128 } } });
      const running = bed.project.start("up");
      await askedFor(bed.hub, "org/tiny", SECOND);
      expect(bed.processes().map((process) => process.pid)).toContain(pid);
      expect(await askForToken(port)).toBe(200);
      await bed.hub.setFaults([]);
      const stdout = demandDone(await running.result);
      expect(stdout).toContain(`fetched again, because it was broken: ${SECOND}`);
      expect(await sentOut(bed.hub, "org/tiny")).toEqual({ [SECOND]: 1 });
      expect(statSync(place(SECOND)).size).toBe(SHARD_BYTES);
      expect(readFileSync(place(SECOND)).equals(whole)).toBe(true);
      expect(await outputs()).toMatchObject({ status: "ready", generation: 2, drift: [] });
      demandDone(await bed.project.destroy());
    },
  );
});
