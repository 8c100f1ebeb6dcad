import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureHf } from "../../scripts/setup-hf.mjs";
import { TINY_LLAMA } from "../support/checkpoints";
import { freePort } from "../support/free-port";
import { askForToken, hubHost, type HubHost } from "../support/hub-host";
import type { PulumiResult } from "../support/pulumi-cli";

/** A host that reaches no hub: it is said without a try to download, and what is in the cache is served all the same. */

const COMMIT = "a".repeat(40);
const SHARD = "model.safetensors";
const FILES = { "config.json": { json: TINY_LLAMA }, [SHARD]: { safetensors: 1_000_000 } };

type Inputs = Readonly<Record<string, unknown>>;

let bed: HubHost;
let port: number;

beforeAll(async () => {
  bed = await hubHost({
    repositories: {
      "org/tiny": { revisions: [{ sha: COMMIT, refs: ["main"], files: FILES }] },
      "org/other": { revisions: [{ sha: COMMIT, refs: ["main"], files: FILES }] },
    },
  });
  port = await freePort("127.0.0.1");
});

afterAll(async () => {
  await bed.close();
});

async function up(model: Inputs, changes: Inputs = {}): Promise<PulumiResult> {
  await bed.declare({
    tiny: {
      model: { repo: "org/tiny", endpoint: bed.hub.url, ...model },
      vllm: { executable: bed.executable },
      listen: { port },
      engine: { servedModelName: ["tiny"] },
      environment: { STAND_IN_START_SECONDS: "0.5" },
      ...changes,
    },
  });
  return bed.project.up();
}

const demandDone = ({ code, stdout, stderr }: PulumiResult): string => {
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  return stdout;
};

/** As a user of the host does it, with the client itself. */
async function downloadByHand(repository: string): Promise<void> {
  const hf = await ensureHf();
  execFileSync(hf, ["download", repository], {
    env: {
      ...process.env,
      HOME: bed.home,
      HF_ENDPOINT: bed.hub.url,
      HF_HUB_CACHE: join(bed.repository(repository), ".."),
    },
    stdio: "pipe",
  });
}

describe("a hub that is not reached", () => {
  it.each([
    {
      how: "is away",
      model: {},
      variables: {},
      found: "the connection is refused, need a model hub that answers",
      change: "check model.endpoint (or HF_ENDPOINT) and the proxy settings",
    },
    {
      how: "has a name that nobody knows",
      model: { endpoint: "http://hub.invalid" },
      variables: {},
      found: "its name cannot be looked up, need a model hub that answers",
      change: "check model.endpoint (or HF_ENDPOINT) and the proxy settings",
    },
    {
      how: "may not be asked",
      model: {},
      variables: { HF_HUB_OFFLINE: "1" },
      found: "HF_HUB_OFFLINE is set in the host's login environment, need a host that may ask",
      change: "unset HF_HUB_OFFLINE on the host",
    },
  ])(
    "that $how: is told at once, with what to do, and no client is started",
    async ({ model, variables, found, change }) => {
      bed.setLogin(variables);
      await bed.hub.goAway();
      const { code, stdout } = await up(model);
      bed.setLogin({});
      await bed.hub.comeBack();
      expect(code).not.toBe(0);
      const lines = stdout.split("\n").filter((line) => line.includes("* Cannot "));
      expect(lines).toEqual([expect.stringContaining(`for org/tiny: ${found}`)]);
      expect(stdout).toContain(`change: ${change}`);
      expect(stdout).toContain(
        "bring the checkpoint to the host by other means and declare its folder as model.path",
      );
      expect([bed.clientCalls(), bed.processes()]).toEqual([[], []]);
    },
  );
});

describe("what is in the cache", () => {
  it("is served again without the hub, and after a change, once a server has brought it", async () => {
    demandDone(await up({ revision: "main" }));
    const { pid } = (await bed.project.servers())[0]?.outputs ?? {};
    await bed.hub.goAway();
    const changed = await up({ revision: "main" }, { configOverrides: { max_position_embeddings: 128 } });
    expect(demandDone(changed)).toContain("restart: configOverrides");
    const { outputs = {} } = (await bed.project.servers())[0] ?? {};
    expect(outputs).toMatchObject({ status: "ready", generation: 2, modelRevision: COMMIT, drift: [] });
    expect(outputs["pid"]).not.toBe(pid);
    expect(await askForToken(port)).toBe(200);
    demandDone(await bed.project.destroy());
    await bed.hub.comeBack();
  });

  it.each([
    { what: "a commit, while the hub is away", revision: COMMIT, variables: {} },
    {
      what: "a branch, on a host that is to stay offline",
      revision: "main",
      variables: { HF_HUB_OFFLINE: "1" },
    },
  ])(
    "is served without the hub where somebody brought it by hand: $what",
    async ({ revision, variables }) => {
      await downloadByHand("org/other");
      bed.setLogin(variables);
      await bed.hub.goAway();
      demandDone(await up({ repo: "org/other", revision }));
      bed.setLogin({});
      expect((await bed.project.servers())[0]?.outputs).toMatchObject({
        status: "ready",
        modelRevision: COMMIT,
        modelPath: bed.snapshot("org/other", COMMIT),
      });
      demandDone(await bed.project.destroy());
      await bed.hub.comeBack();
    },
  );

  it("is not enough where one file is missing: then it is told that the hub is not reached", async () => {
    await downloadByHand("org/other");
    rmSync(join(bed.snapshot("org/other", COMMIT), SHARD));
    await bed.hub.goAway();
    const { code, stdout } = await up({ repo: "org/other", revision: COMMIT });
    await bed.hub.comeBack();
    expect(code).not.toBe(0);
    expect(stdout).toContain("for org/other: the connection is refused");
  });
});
