import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { repositoryFolder } from "../../scripts/places.mjs";
import { connectionTrap } from "../support/connection-trap";
import { previewedOutputs } from "../support/previewed-outputs";
import { startProgram } from "../support/patch-command";
import { PulumiProject, type ProjectOptions } from "../support/pulumi-cli";

let project: PulumiProject | undefined;
const copies: string[] = [];

afterEach(async () => {
  await project?.remove();
  project = undefined;
  for (const copy of copies.splice(0)) rmSync(copy, { recursive: true, force: true });
});

async function projectOf(options: ProjectOptions): Promise<PulumiProject> {
  project = await PulumiProject.create(options);
  return project;
}

/** The root project: Pulumi.yaml and stacks/, whose files `stack init` would change. */
function copyOfRoot(): string {
  const copy = mkdtempSync(join(tmpdir(), "pulumi-vllm-root-"));
  copies.push(copy);
  mkdirSync(join(copy, "stacks"));
  for (const path of ["Pulumi.yaml", "stacks"]) {
    cpSync(join(repositoryFolder, path), join(copy, path), {
      recursive: true,
      filter: (file) => !file.includes("node_modules"),
    });
  }
  return copy;
}

test.each([
  ["kimi", "kimi", "ubuntu@gpu1"],
  ["local", "tiny", "localhost"],
])(
  "stacks: the servers of stack %s are declared from its config alone",
  async (stack, server, destination) => {
    const own = await projectOf({ copyOf: copyOfRoot(), stack });
    expect(await previewedOutputs(own)).toEqual({
      baseUrls: { [server]: "http://127.0.0.1:8000/v1" },
      tunnelCommands: { [server]: `ssh -N -L 8000:127.0.0.1:8000 ${destination}` },
    });
  },
);

test("stacks: two servers of one host share what stands in the defaults", async () => {
  const own = await projectOf({ copyOf: copyOfRoot(), stack: "two-on-one" });
  expect(await previewedOutputs(own)).toEqual({
    baseUrls: { chat: "http://127.0.0.1:8000/v1", embed: "http://127.0.0.1:8001/v1" },
    tunnelCommands: {
      chat: "ssh -N -L 8000:127.0.0.1:8000 ubuntu@gpu1",
      embed: "ssh -N -L 8001:127.0.0.1:8001 ubuntu@gpu1",
    },
  });
});

test("stacks: a fleet of twenty hosts is previewed without a connection to any of them", async () => {
  const trap = await connectionTrap();
  try {
    const own = await projectOf({ copyOf: copyOfRoot(), stack: "fleet", env: { HOME: trap.home } });
    const { code, stdout, events, seconds } = await own.preview();
    expect(code, stdout).toBe(0);
    expect(seconds).toBeLessThan(60);
    expect(trap.connections()).toBe(0);
    const declared = events.flatMap(({ resourcePreEvent }) => resourcePreEvent?.metadata ?? []);
    const servers = declared.filter(({ type }) => type.endsWith("vllm:VllmServer"));
    const inputs = new Map(servers.map((step) => [step.urn.split("::").at(-1), step.new?.inputs]));
    expect(inputs.size).toBe(20);
    expect(inputs.get("llm-09")).toMatchObject({
      host: "gpu09",
      engine: { servedModelName: ["chat"], tensorParallelSize: 8, maxModelLen: 131072, maxNumSeqs: 16 },
      timeouts: { ready: 1800 },
    });
    expect(inputs.get("llm-16")).toMatchObject({ kvCacheDtype: "bfloat16", timeouts: { ready: 5400 } });
    expect(inputs.get("llm-17")).not.toHaveProperty("kvCacheDtype");
    expect(inputs.get("llm-20")).toMatchObject({ service: { startOnBoot: false, restart: { max: 3 } } });
    // The trap is one: what does look at a host falls into it.
    await startProgram(["doctor", "gpu07"], { env: { ...process.env, HOME: trap.home } }).result;
    expect(trap.connections()).toBeGreaterThan(0);
  } finally {
    trap.close();
  }
});

test("stacks: a secret in the config stays one, the rest of the config stays readable", async () => {
  const own = await projectOf({ copyOf: copyOfRoot(), stack: "kimi" });
  await own.mustRun("config", [
    "set",
    "--path",
    "--secret",
    "vllm-servers:servers.kimi.apiKey",
    "sk-secret-1",
  ]);
  const { code, stdout } = await own.preview(["--diff"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/apiKey +: \[secret\]/);
  expect(stdout).toMatch(/path: "~\/models\/nvidia\/Kimi-K2\.5-NVFP4"/);
  expect(stdout).not.toContain("sk-secret-1");
});

test("stacks: a secret is one wherever it stands: in what servers share, in a list, in an input that is none", async () => {
  const copy = copyOfRoot();
  const servers = "{ one: { host: gpu1, model: org/name }, two: { host: gpu2, model: org/name, group: g } }";
  writeFileSync(
    join(copy, "stacks", "config", "Pulumi.local.yaml"),
    `config: { vllm-servers:servers: ${servers}, vllm-servers:groups: { g: { engine: { dtype: half } } } }\n`,
  );
  const own = await projectOf({ copyOf: copy, stack: "local" });
  const secrets = {
    "defaults.environment.HF_TOKEN": "hf_secret_1",
    "groups.g.engine.chatTemplate": "secret_2",
    "servers.one.engine.servedModelName[0]": "secret_3",
  };
  for (const [path, value] of Object.entries(secrets))
    await own.mustRun("config", ["set", "--path", "--secret", `vllm-servers:${path}`, value]);
  const { code, stdout } = await own.preview(["--diff"]);
  expect(code, stdout).toBe(0);
  expect(stdout.match(/environment +: \[secret\]/g)).toHaveLength(2);
  expect(stdout).toMatch(/chatTemplate *: \[secret\]/);
  expect(stdout).toMatch(/dtype *: "half"/);
  expect(stdout).toMatch(/servedModelName *: \[secret\]/);
  expect(stdout).not.toMatch(/secret_\d/);
});

test("stacks: where the stack's file is not found, that is said, and what is always secret stays it", async () => {
  const own = await projectOf({ copyOf: copyOfRoot(), stack: "local" });
  const path = "vllm-servers:servers.tiny.apiKey";
  await own.mustRun("config", ["set", "--path", "--secret", path, "sk-secret-1"]);
  const [from, to] = ["stacks/config/Pulumi.local.yaml", "elsewhere.yaml"].map((file) =>
    join(own.folder, file),
  );
  renameSync(from ?? "", to ?? "");
  const { code, stdout, events } = await own.preview(["--diff", "--config-file", to ?? ""]);
  expect(code, stdout).toBe(0);
  const warnings = events.flatMap(({ diagnosticEvent }) => diagnosticEvent?.message ?? []);
  expect(warnings.join("\n")).toContain("The stack's file was not found");
  expect(stdout).toMatch(/apiKey +: \[secret\]/);
  expect(stdout).not.toContain("sk-secret-1");
});

test("stacks: everything that is wrong in the config is told at once, before anything is declared", async () => {
  const copy = copyOfRoot();
  const config = "{ vllm-servers:servers: { tiny: { host: gpu1, engin: {} } }, vllm-servers:defaults: text }";
  writeFileSync(join(copy, "stacks", "config", "Pulumi.local.yaml"), `config: ${config}\n`);
  const own = await projectOf({ copyOf: copy, stack: "local" });
  const { code, printed } = await own.preview();
  expect(code).not.toBe(0);
  expect(printed).toContain("error: Cannot declare servers: 3 problems in the config of stack local");
  expect(printed).toContain("vllm-servers:servers.tiny.engin: found an object, need engine");
  expect(printed).toContain("vllm-servers:servers.tiny.model: found nothing, need text such as");
  expect(printed).toContain("vllm-servers:defaults: found text, need an object");
  expect(printed).not.toContain("unhandled exception");
});

test("a TypeScript program that is an ES module runs, its types stripped by Node", async () => {
  const copy = mkdtempSync(join(tmpdir(), "pulumi-vllm-esm-"));
  copies.push(copy);
  cpSync(join(repositoryFolder, "examples", "single-server"), copy, {
    recursive: true,
    filter: (file) => !file.includes("node_modules") && !file.endsWith("package.json"),
  });
  const own = await projectOf({ copyOf: copy });
  await own.writeFile("package.json", JSON.stringify({ name: "esm", type: "module", main: "index.ts" }));
  await own.mustRun("config", ["set", "host", "gpu1"]);
  await own.mustRun("config", ["set", "modelPath", "/m"]);
  expect(await previewedOutputs(own)).toMatchObject({ baseUrl: "http://127.0.0.1:8000/v1" });
});
