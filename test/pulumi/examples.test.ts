import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { UNKNOWN_VALUE } from "../../provider/src/core/input-unknowns";
import { repositoryFolder } from "../../scripts/places.mjs";
import { previewedOutputs } from "../support/previewed-outputs";
import { PulumiProject } from "../support/pulumi-cli";

/** Each folder of examples/ is a whole project that somebody copies, and its preview needs no host. */

const examples = join(repositoryFolder, "examples");

let project: PulumiProject | undefined;

afterEach(async () => {
  await project?.remove();
  project = undefined;
});

interface Previewed {
  readonly name: string;
  /** Words of `pulumi config` before the preview. */
  readonly config: readonly (readonly string[])[];
  readonly outputs: Readonly<Record<string, unknown>>;
}

const tunnel = (host: string, port = 8000): string =>
  `ssh -N -L ${String(port)}:127.0.0.1:${String(port)} ${host}`;
const loopback = (port = 8000): string => `http://127.0.0.1:${String(port)}/v1`;

const PREVIEWED: readonly Previewed[] = [
  {
    name: "single-server",
    config: [
      ["set", "host", "ubuntu@gpu1"],
      ["set", "modelPath", "/models/Qwen3-8B"],
    ],
    outputs: { baseUrl: loopback(), tunnelCommand: tunnel("ubuntu@gpu1") },
  },
  {
    name: "two-on-one-host",
    config: [
      ["set", "host", "ubuntu@gpu1"],
      ["set", "chatModelPath", "/models/Qwen3-8B"],
      ["set", "embedModelPath", "/models/Qwen3-Embedding-0.6B"],
    ],
    outputs: {
      baseUrls: { chat: loopback(8000), embed: loopback(8001) },
      tunnelCommands: { chat: tunnel("ubuntu@gpu1", 8000), embed: tunnel("ubuntu@gpu1", 8001) },
      gpus: { chat: UNKNOWN_VALUE, embed: UNKNOWN_VALUE },
    },
  },
  {
    name: "config-overrides",
    config: [
      ["set", "host", "gpu1"],
      ["set", "modelPath", "/models/my-model-FP8"],
    ],
    outputs: { baseUrl: loopback(), modelPath: UNKNOWN_VALUE, kvCacheDtype: UNKNOWN_VALUE },
  },
  {
    name: "with-other-infra",
    config: [
      ["set", "--path", "hosts[0]", "ubuntu@gpu1"],
      ["set", "--path", "hosts[1]", "gpu2"],
      ["set", "modelPath", "/models/Qwen3-8B"],
      ["set", "--secret", "apiKey", "sk-of-the-test"],
    ],
    outputs: { baseUrls: ["http://gpu1:8000/v1", "http://gpu2:8000/v1"], balancerFile: "upstream.conf" },
  },
  {
    name: "fleet",
    config: [],
    outputs: {
      baseUrls: {
        chat: [loopback(), loopback(), loopback()],
        code: [loopback(), loopback()],
        embed: [loopback()],
      },
      tunnelCommands: [1, 2, 3, 4, 5, 6].map((number) => tunnel(`gpu${String(number)}`)),
    },
  },
];

test.each(PREVIEWED)("examples/$name is previewed by what its README says", async (example) => {
  project = await PulumiProject.create({ copyOf: join(examples, example.name) });
  for (const words of example.config) await project.mustRun("config", words);
  expect(await previewedOutputs(project)).toEqual(example.outputs);
});

describe.each(readdirSync(examples))("examples/%s", (name) => {
  const file = (path: string): string => readFileSync(join(examples, name, path), "utf8");

  test("has what a project needs, under its own name", () => {
    expect(readdirSync(join(examples, name))).toEqual(
      expect.arrayContaining(["Pulumi.yaml", "README.md", "index.ts", "package.json", "tsconfig.json"]),
    );
    expect(file("Pulumi.yaml").split("\n")[0]).toBe(`name: ${name}`);
    const single = JSON.parse(readFileSync(join(examples, "single-server/package.json"), "utf8"));
    expect(JSON.parse(file("package.json"))).toMatchObject({
      name: `pulumi-vllm-example-${name}`,
      private: true,
      dependencies: single.dependencies,
    });
  });

  test("says in its README how it is run and what it needs", () => {
    expect(file("README.md")).toMatch(/^# .+\n/);
    expect(file("README.md")).toMatch(/```sh\nnpm install\n/);
    expect(file("README.md")).toMatch(/^Needs on the hosts?: .*$/m);
  });
});
