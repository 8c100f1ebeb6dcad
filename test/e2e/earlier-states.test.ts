import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { atPlaces, layOutFiles, type EarlierState } from "../support/earlier-state";
import { freePort } from "../support/free-port";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import type { StateResource } from "../support/pulumi-cli";

/**
 * What earlier versions of the package left in states and on hosts, in the hands of this one; the host was switched off in between. A new
 * recording: scripts/record-state.mjs.
 */

const RECORDINGS = join(import.meta.dirname, "fixtures", "earlier-states");
const names = readdirSync(RECORDINGS).filter((name) => name.endsWith(".json"));

it("has recordings", () => {
  expect(names.toSorted()).toEqual([
    "drift-by-property.json",
    "first.json",
    "one-function-text.json",
    "service-managers.json",
  ]);
});

describe.each(names)("a server of %s", (name) => {
  let bed: GpuHost;
  let earlier: EarlierState;
  let listenPort: number;
  const server = async (): Promise<StateResource | undefined> => (await bed.project.servers())[0];
  const bringBack = async (): Promise<void> => {
    layOutFiles(bed.home, earlier.files);
    await bed.project.stackImport(earlier.state);
  };

  beforeAll(async () => {
    bed = await gpuHost();
    writeCheckpoint(join(bed.folder, "tiny"), { "config.json": TINY_LLAMA });
    listenPort = await freePort("127.0.0.1");
    const { sshd } = bed;
    earlier = atPlaces(join(RECORDINGS, name), {
      folder: bed.folder,
      standIn: dirname(dirname(bed.executable)),
      sshPort: sshd.port,
      listenPort,
      user: sshd.user,
      privateKey: sshd.privateKey,
      hostKey: sshd.hostKeyLine,
      bootId: "11111111-1111-4111-8111-111111111111",
    });
    await bed.declare({ kimi: earlier.declared });
    await bringBack();
  });

  afterAll(async () => {
    await bed.close();
  });

  it("is refreshed: it is the same resource, and the reboot is told", async () => {
    const before = await server();
    const refresh = await bed.project.refresh();
    expect(refresh.code, refresh.stdout).toBe(0);
    expect(await server()).toMatchObject({
      id: before?.id,
      outputs: { status: "rebooted", generation: 1, listen: { port: listenPort } },
    });
  });

  it("is updated, not replaced: it runs again under its id, and nothing is left to do", async () => {
    const before = await server();
    const up = await bed.project.up();
    expect(up.code, up.stdout).toBe(0);
    const after = await server();
    expect(after).toMatchObject({
      id: before?.id,
      outputs: { status: "ready", generation: 2, drift: [], maxModelLen: 128 },
    });
    const answer = await fetch(`http://127.0.0.1:${String(listenPort)}/v1/models`, {
      headers: { authorization: "Bearer recorded-api-key" },
    });
    expect(await answer.json()).toMatchObject({ data: [{ id: "kimi" }] });
    const again = await bed.project.preview(["--expect-no-changes"]);
    expect(again.code, again.stdout).toBe(0);
  });

  it("is destroyed without a trace, after that update", async () => {
    const destroy = await bed.project.destroy();
    expect(destroy.code, destroy.stdout).toBe(0);
    expect([bed.serverFolders(), bed.processes(), await bed.project.servers()]).toEqual([[], [], []]);
  });

  it("is destroyed with what its own state says, without an update before", async () => {
    await bringBack();
    expect(bed.serverFolders()).toHaveLength(1);
    const destroy = await bed.project.destroy();
    expect(destroy.code, destroy.stdout).toBe(0);
    expect([bed.serverFolders(), bed.processes(), await bed.project.servers()]).toEqual([[], [], []]);
    const overlays = join(bed.home, ".local/state/pulumi-vllm/overlays");
    expect(existsSync(overlays) ? readdirSync(overlays).filter((entry) => entry !== ".lock") : []).toEqual(
      [],
    );
  });
});
