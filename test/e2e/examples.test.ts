import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { nodeBinFolder, repositoryFolder } from "../../scripts/places.mjs";
import { capture } from "../../scripts/processes.mjs";
import { FP8_KV_CACHE, TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { freePort } from "../support/free-port";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { homeThatKnows } from "../support/pasted-project";
import { PulumiProject } from "../support/pulumi-cli";

/** The projects of examples/ as a person copies them, up and down on a host that ~/.ssh/config knows as gpu1. */

let bed: GpuHost;
let home: string;
let models: string;
let project: PulumiProject | undefined;

beforeAll(async () => {
  bed = await gpuHost();
  models = join(bed.folder, "models");
  mkdirSync(models);
  const config = { ...TINY_LLAMA, max_position_embeddings: 8192 };
  writeCheckpoint(join(models, "tiny"), { "config.json": config });
  const quantized = { ...config, quantization_config: FP8_KV_CACHE };
  writeCheckpoint(join(models, "quantized"), { "config.json": quantized });
  bed.offerByLogin();
  home = homeThatKnows(bed);
});

afterEach(async () => {
  await project?.remove();
  project = undefined;
});

afterAll(async () => {
  await bed.close();
  rmSync(home, { recursive: true, force: true });
});

type Outputs = Readonly<Record<string, unknown>>;

/** Copies, edits, configures, `up`; looks at the outputs; `destroy`, after which nothing is left on the host. */
async function liveThrough(
  example: string,
  config: readonly (readonly string[])[],
  look: (outputs: Outputs) => Promise<void>,
  edit: (own: PulumiProject) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const own = await copyOf(example);
  await edit(own);
  for (const words of config) await own.mustRun("config", words);
  try {
    const { code, stdout, stderr } = await own.up();
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    await look(JSON.parse(await own.mustRun("stack", ["output", "--json", "--stack", "dev"])));
  } finally {
    const { code, stdout } = await own.destroy();
    expect(code, stdout).toBe(0);
  }
  expect([bed.processes(), bed.serverFolders()]).toEqual([[], []]);
}

async function copyOf(example: string): Promise<PulumiProject> {
  project = await PulumiProject.create({
    copyOf: join(repositoryFolder, "examples", example),
    env: { HOME: home },
  });
  return project;
}

async function answeredModels(baseUrl: unknown, key?: string): Promise<unknown> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const answer = await fetch(`${String(baseUrl)}/models`, { headers });
  const body = (await answer.json()) as { readonly data: readonly { readonly id: string }[] };
  return body.data.map(({ id }) => id);
}

async function port(): Promise<string> {
  return String(await freePort("127.0.0.1"));
}

test("single-server: serves what its program says, on a port of the test's own", async () => {
  const config = [
    ["set", "host", "gpu1"],
    ["set", "modelPath", join(models, "tiny")],
  ];
  const own = await port();
  const listening = async (copy: PulumiProject): Promise<void> => {
    const program = readFileSync(join(copy.folder, "index.ts"), "utf8");
    const place = "  engine: {";
    expect(program).toContain(place);
    await copy.writeFile("index.ts", program.replace(place, `  listen: { port: ${own} },\n${place}`));
  };
  await liveThrough(
    "single-server",
    config,
    async ({ baseUrl, tunnelCommand }) => {
      expect([baseUrl, tunnelCommand]).toEqual([
        `http://127.0.0.1:${own}/v1`,
        `ssh -N -L ${own}:127.0.0.1:${own} gpu1`,
      ]);
      expect(await answeredModels(baseUrl)).toEqual(["llm"]);
    },
    listening,
  );
});

test("two-on-one-host: both serve, each on GPUs of its own", async () => {
  const config = [
    ["set", "host", "gpu1"],
    ["set", "chatModelPath", join(models, "tiny")],
    ["set", "embedModelPath", join(models, "tiny")],
    ["set", "chatPort", await port()],
    ["set", "embedPort", await port()],
  ];
  await liveThrough("two-on-one-host", config, async ({ baseUrls, gpus }) => {
    const urls = baseUrls as Outputs;
    expect(await answeredModels(urls["chat"])).toEqual(["chat"]);
    expect(await answeredModels(urls["embed"])).toEqual(["embed"]);
    const { chat, embed } = gpus as Readonly<Record<string, readonly string[]>>;
    expect([chat?.length, embed?.length, new Set([...(chat ?? []), ...(embed ?? [])]).size]).toEqual([
      2, 1, 3,
    ]);
  });
});

test("config-overrides: what is served is a copy of the config with the overrides in it, and the checkpoint as it was", async () => {
  const original = readFileSync(join(models, "quantized", "config.json"), "utf8");
  const config = [
    ["set", "host", "gpu1"],
    ["set", "modelPath", join(models, "quantized")],
    ["set", "port", await port()],
  ];
  await liveThrough("config-overrides", config, async ({ baseUrl, modelPath, kvCacheDtype }) => {
    expect(await answeredModels(baseUrl)).toEqual(["llm"]);
    expect(kvCacheDtype).toBe("bfloat16");
    const served = JSON.parse(readFileSync(join(String(modelPath), "config.json"), "utf8"));
    expect(served).toEqual({
      ...JSON.parse(original),
      max_position_embeddings: 16384,
      rope_scaling: null,
      quantization_config: { ...FP8_KV_CACHE, kv_cache_scheme: null },
    });
  });
  expect(readFileSync(join(models, "quantized", "config.json"), "utf8")).toBe(original);
});

test("with-other-infra: the load balancer's file has the server in it, and goes with it", async () => {
  const [serverPort, balancerFile] = [await port(), join(home, "upstream.conf")];
  const config = [
    ["set", "--path", "hosts[0]", "gpu1"],
    ["set", "modelPath", join(models, "tiny")],
    ["set", "port", serverPort],
    ["set", "balancerFile", balancerFile],
    ["set", "--secret", "apiKey", "sk-of-the-test"],
  ];
  await liveThrough("with-other-infra", config, async ({ baseUrls }) => {
    expect(baseUrls).toEqual([`http://gpu1:${serverPort}/v1`]);
    expect(readFileSync(balancerFile, "utf8").split("\n")).toEqual([
      "upstream llm {",
      "  least_conn;",
      `  server gpu1:${serverPort};`,
      "}",
      "",
    ]);
    expect(await answeredModels(`http://127.0.0.1:${serverPort}/v1`, "sk-of-the-test")).toEqual(["llm"]);
  });
  expect(readdirSync(home)).not.toContain("upstream.conf");
});

test("automation-api: previews, deploys, prints the answer, and leaves nothing", async () => {
  const own = await copyOf("automation-api");
  const words = ["index.ts", "gpu1", join(models, "tiny"), "2 and 2 is", await port()];
  const { code, stdout, stderr } = await capture(join(nodeBinFolder, "node"), words, {
    cwd: own.folder,
    env: own.env,
  });
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('preview: {"create":2}');
  expect(stderr).toContain("ready in");
  // As many words as it asks for, and nothing else on standard output.
  expect(stdout).toMatch(/^the quick brown fox(?: \w+){60}\n$/);
  expect([await own.servers(), bed.processes(), bed.serverFolders()]).toEqual([[], [], []]);
});
