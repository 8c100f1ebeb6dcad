import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { PulumiProject, type ProjectOptions, type PulumiResult } from "../support/pulumi-cli";

const PROVIDER = readFileSync(join(import.meta.dirname, "provider-text.snapshot.js.txt"), "utf8");
const TYPE = "pulumi-nodejs:dynamic/vllm:VllmServer";
const STACK_URN = "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev";
const KIMI_URN = `urn:pulumi:dev::test::${TYPE}::kimi`;
const DEFAULT_PROVIDER_URN = "urn:pulumi:dev::test::pulumi:providers:pulumi-nodejs::default";
/** Nothing listens on the discard port. */
const NOWHERE = {
  host: "127.0.0.1",
  port: 9,
  user: "nobody",
  hostKey: "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
};

let project: PulumiProject | undefined;

afterEach(async () => {
  await project?.remove();
  project = undefined;
});

async function projectOf(options: ProjectOptions): Promise<PulumiProject> {
  project = await PulumiProject.create(options);
  return project;
}

function programOf(args: object): string {
  return [
    'import { VllmServer } from "pulumi-vllm";',
    `const args = Object.freeze(${JSON.stringify({ host: NOWHERE, model: { path: "/models/kimi" }, timeouts: { connect: 1 }, ...args })});`,
    'export const baseUrl = new VllmServer("kimi", args).baseUrl;',
  ].join("\n");
}

/** A state in which kimi runs, as `up` leaves it. */
function stateWith(engine: object, more: object = {}): object {
  const inputs = {
    __provider: PROVIDER,
    __urn: KIMI_URN,
    host: NOWHERE,
    model: { path: "/models/kimi" },
    timeouts: { connect: 1 },
    engine,
    ...more,
  };
  const outputs = { ...inputs, status: "ready", generation: 1, drift: [], startDurationSeconds: 312 };
  const provider = {
    urn: DEFAULT_PROVIDER_URN,
    custom: true,
    id: "0b2e7f3c",
    type: "pulumi:providers:pulumi-nodejs",
  };
  return {
    version: 3,
    deployment: {
      manifest: { time: "2026-01-01T00:00:00Z", magic: "", version: "" },
      resources: [
        { urn: STACK_URN, custom: false, type: "pulumi:pulumi:Stack" },
        provider,
        {
          urn: KIMI_URN,
          custom: true,
          id: "kimi-0a1b2c3d",
          type: TYPE,
          inputs,
          outputs,
          parent: STACK_URN,
          provider: `${provider.urn}::${provider.id}`,
        },
      ],
    },
  };
}

const saidOf = (result: PulumiResult, urn: string): readonly string[] =>
  result.events.flatMap(({ diagnosticEvent }) =>
    diagnosticEvent?.urn === urn ? [diagnosticEvent.message.trim()] : [],
  );

test("preview opens no connection, knows what follows from the inputs, and shows no secret", async () => {
  const secrets = {
    apiKey: "sk-secret-1",
    environment: { HF_TOKEN: "hf-secret-2" },
    extraArgs: { "kv-transfer-config": { store: { password: "pw-secret-4" } }, "stream-interval": 4 },
    host: { ...NOWHERE, password: "pw-secret-3" },
  };
  const own = await projectOf({ program: programOf(secrets) });
  const { code, stdout, stderr } = await own.preview(["--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain('"baseUrl": "http://127.0.0.1:8000/v1"');
  expect(stdout).not.toMatch(/secret-\d/);
});

test("preview says on the resource's own line what an update does", async () => {
  const own = await projectOf({ program: programOf({ engine: { maxModelLen: 16384 } }) });
  await own.stackImport(stateWith({ maxModelLen: 8192 }));
  const result = await own.preview();
  expect(result.code).toBe(0);
  expect(saidOf(result, KIMI_URN)).toEqual([
    expect.stringMatching(/^restart: .*engine\.maxModelLen 8192 -> 16384/),
  ]);
  const diagnostics = result.stdout.slice(result.stdout.indexOf("Diagnostics:"));
  expect(diagnostics).toMatch(/VllmServer \(kimi\):\n +restart: /);
});

test("preview warns of what the parser of the version would refuse, without asking a host", async () => {
  const engine = { compilationConfig: { pass_config: { enable_fusion: true } } };
  const own = await projectOf({ program: programOf({ engine, extraArgs: { seed: "one" } }) });
  const newest = await own.preview();
  const warnings = (result: PulumiResult): readonly string[] =>
    result.events.flatMap(({ diagnosticEvent }) =>
      diagnosticEvent?.severity === "warning" && diagnosticEvent.urn === KIMI_URN
        ? [diagnosticEvent.message.trim().replace(/ \(it knows .*$/s, "")]
        : [],
    );
  expect([newest.code, new Set(warnings(newest))]).toEqual([
    0,
    new Set([
      'vLLM 0.32 would refuse engine.compilationConfig: found an object, need no member "pass_config.enable_fusion"',
      'vLLM 0.32 would refuse extraArgs.seed: found "one", need a whole number',
    ]),
  ]);
  // Of a version without a table nothing is said before it is there.
  await own.setProgram(programOf({ engine, vllm: { version: "0.20.0" } }));
  expect(warnings(await own.preview())).toEqual([]);
});

test("what the program marks secret, at any depth, is shown nowhere, and neither is an output that repeats it", async () => {
  const program = [
    'import { output, secret } from "@pulumi/pulumi";',
    'import { VllmServer } from "pulumi-vllm";',
    `const args = ${JSON.stringify({ host: NOWHERE, model: { path: "/models/kimi" }, timeouts: { connect: 1 } })};`,
    "const engine = output({ maxModelLen: 8192, servedModelName: [secret('name-secret-1')] });",
    "const extraArgs = { connector: { settings: [{ url: output(secret('url-secret-2')).apply((url) => url + '/') }] } };",
    'const kimi = new VllmServer("kimi", { ...args, engine, extraArgs });',
    "export const { baseUrl, servedModelName } = kimi;",
  ].join("\n");
  const own = await projectOf({ program });
  await own.stackImport(
    stateWith({ maxModelLen: 8192, servedModelName: ["name-secret-0"] }, { __secrets: ["engine"] }),
  );
  const result = await own.preview(["--json"]);
  expect(result.code).toBe(0);
  expect(saidOf(result, KIMI_URN)).toEqual([
    "restart: engine.servedModelName changed, extraArgs.connector added; down about 5 min (last start took 312 s)",
  ]);
  const shown = `${result.stdout}${result.stderr}${JSON.stringify(result.events)}`;
  expect(shown).not.toMatch(/secret-[12]/);
  expect(result.stdout).toContain('"baseUrl": "http://127.0.0.1:8000/v1"');
});

test("an edited program leaves the provider text as it is", async () => {
  const own = await projectOf({
    program: `${programOf({})}\nconst edited = [1, 2, 3];\nexport const sum = edited.length;`,
  });
  await own.stackImport(stateWith({}));
  const result = await own.preview(["--expect-no-changes"]);
  expect([result.code, result.stderr]).toEqual([0, ""]);
});

test("a host that does not answer fails the server and leaves nothing in state", async () => {
  const own = await projectOf({ program: programOf({ apiKey: "sk-secret-1" }) });
  const result = await own.up();
  expect(result.code).not.toBe(0);
  expect(saidOf(result, KIMI_URN).join("\n")).toMatch(/127\.0\.0\.1/);
  expect(`${result.stdout}${result.stderr}${JSON.stringify(result.events)}`).not.toContain("sk-secret-1");
  expect(await own.servers()).toEqual([]);
});

test("refresh and destroy run the provider text of the state, in the program's folder, with a program that cannot run", async () => {
  const own = await projectOf({ program: "throw new Error('broken program');" });
  await own.stackImport(stateWith({}));
  for (const result of [await own.refresh(), await own.destroy()]) {
    expect(result.code).not.toBe(0);
    expect(saidOf(result, KIMI_URN).join("\n")).toMatch(/Cannot connect|127\.0\.0\.1/);
    expect(result.stdout).not.toContain("broken program");
  }
  expect(await own.servers()).toHaveLength(1);
});

test("children of a component do not wait for each other", async () => {
  const program = [
    'import { ComponentResource } from "@pulumi/pulumi";',
    'import { VllmServer } from "pulumi-vllm";',
    'const pair = new ComponentResource("shop:llm:Pair", "pair", {});',
    'for (const name of ["one", "two"]) new VllmServer(name, { host: "gpu1", model: { path: "/m" } }, { parent: pair });',
  ].join("\n");
  const result = await (await projectOf({ program })).preview();
  expect(result.code).toBe(0);
  const created = result.events.flatMap(({ resourcePreEvent }) => resourcePreEvent?.metadata.urn ?? []);
  const urn = (name: string) => `urn:pulumi:dev::test::shop:llm:Pair$${TYPE}::${name}`;
  expect(created.filter((found) => found.includes(TYPE)).sort()).toEqual([urn("one"), urn("two")]);
});
