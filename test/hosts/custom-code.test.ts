import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { insidePath } from "../support/inside-host";
import { addReadingVllm, CUSTOM_FILES, hashesIn, hashOf, readByVllm } from "../support/reading-vllm";
import { STAND_IN_EXECUTABLE } from "../support/systemd-host";
import type { Inputs } from "./fleet";
import { declare, makeOneMachine, outputsOf, type OneMachine } from "./one-machine";
import type { Traces } from "./site";

/** What a checkpoint brings beside its weights, through an overlay, with each service manager. */

const MANAGERS = ["process", "systemd", "systemd-user"] as const;
/** A revision in the hub cache of the host's user. */
const REPOSITORY = "/home/eve/.cache/huggingface/hub/models--org--tiny";
const SNAPSHOT = `${REPOSITORY}/snapshots/${"a".repeat(40)}`;

let place: OneMachine;
let empty: Traces;

const readAt = (manager: string): string => `/home/eve/read-${manager}.json`;

beforeAll(async () => {
  place = await makeOneMachine({ name: "gpu6", users: [{ name: "eve", sudo: true, linger: true }] });
  empty = place.site("eve").traces();
  layOutCheckpoint();
  const programs = dirname(STAND_IN_EXECUTABLE);
  const executable = join(programs, addReadingVllm(insidePath(place.machine, programs)));
  const servers = await Promise.all(
    MANAGERS.map(async (manager): Promise<[string, Inputs]> => [
      manager,
      await place.server("eve", {
        model: { path: SNAPSHOT },
        vllm: { executable },
        engine: { servedModelName: ["tiny"], trustRemoteCode: true },
        configOverrides: { max_position_embeddings: 128 },
        environment: { STAND_IN_START_SECONDS: "0.5", READ_INTO: readAt(manager) },
        service: { manager },
      }),
    ]),
  );
  await declare(place.project, Object.fromEntries(servers));
  const up = await place.project.up();
  if (up.code !== 0) throw new Error(up.stdout + up.stderr);
});

afterAll(async () => {
  await place.close();
});

/** As the hub's client does: blobs, and relative links to them. */
function layOutCheckpoint(): void {
  const inside = (path: string): string => insidePath(place.machine, path);
  mkdirSync(inside(`${REPOSITORY}/blobs`), { recursive: true });
  const shard = "\x02\0\0\0\0\0\0\0{}";
  for (const [path, text] of Object.entries({ ...CUSTOM_FILES, "model.safetensors": shard })) {
    const blob = `${REPOSITORY}/blobs/${hashOf(text)}`;
    const pointer = join(SNAPSHOT, path);
    writeFileSync(inside(blob), text, "latin1");
    mkdirSync(inside(dirname(pointer)), { recursive: true });
    symlinkSync(relative(dirname(pointer), blob), inside(pointer));
  }
  place.machine.run("chown -R eve /home/eve/.cache");
  chmodSync(inside("/home/eve"), 0o700);
}

describe.each(MANAGERS)("a server by %s", (manager) => {
  it("reads all that its checkpoint brings through the overlay, and modules find each other", async () => {
    const { [manager]: outputs } = await outputsOf(place.project);
    expect(outputs).toMatchObject({ status: "ready", manager, drift: [] });
    expect(String(outputs?.["modelPath"])).toContain("/overlays/");
    const read = readByVllm(insidePath(place.machine, readAt(manager)));
    expect(read.says).toBe("it was found beside it");
    const expected = hashesIn(insidePath(place.machine, SNAPSHOT));
    expect(Object.keys(expected)).toHaveLength(Object.keys(CUSTOM_FILES).length + 1);
    expect({ ...read.files, "config.json": expected["config.json"] }).toEqual(expected);
    expect(read.files["config.json"]).not.toBe(expected["config.json"]);
  });
});

it("destroy leaves nothing of them, and the checkpoint as it was", async () => {
  expect((await place.project.destroy()).code).toBe(0);
  expect(place.site("eve").traces()).toEqual(empty);
  expect(Object.keys(hashesIn(insidePath(place.machine, SNAPSHOT))).sort()).toEqual(
    [...Object.keys(CUSTOM_FILES), "model.safetensors"].sort(),
  );
});
