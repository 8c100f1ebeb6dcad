import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { output, runtime, type Output } from "@pulumi/pulumi";
import { expect, it } from "vitest";
import { repositoryFolder } from "../../scripts/places.mjs";

/** The plugin `command` is not to be had everywhere, so Pulumi's mocks stand in for the engine and for it. */

const CONFIG = {
  address: "192.0.2.10",
  hostKey: "ssh-ed25519 AAAA",
  privateKey: "the private key",
  publicKey: "ssh-ed25519 BBBB",
  modelPath: "/models/Qwen3-8B",
};

it("examples/gpu-host prepares its machine and then declares a server on it, as the account it made", async () => {
  const order: string[] = [];
  let server: unknown;
  const config = Object.entries(CONFIG).map(([name, value]) => [`gpu-host:${name}`, value]);
  runtime.setAllConfig(Object.fromEntries(config), ["gpu-host:privateKey"]);
  await runtime.setMocks(
    {
      call: () => ({}),
      newResource: ({ type, name, inputs }) => {
        order.push(`${type} ${name}`);
        if (type.endsWith(":VllmServer")) server = inputs;
        const stdout = name === "gpu1-driver" ? "driver 575.57.08\n" : "";
        return { id: name, state: { ...inputs, stdout } };
      },
    },
    "gpu-host",
    "dev",
  );
  const { driverVersion, baseUrl } = await import("../../examples/gpu-host/index");
  expect(await valueOf(driverVersion)).toBe("575.57.08");
  await valueOf(output(baseUrl));
  await runtime.disconnect();
  expect(order).toEqual([
    "vllm:index:GpuHost gpu1",
    "command:remote:Command gpu1-driver",
    "command:remote:Command gpu1-packages",
    "command:remote:Command gpu1-persistence",
    "command:remote:Command gpu1-user",
    "pulumi-nodejs:dynamic/vllm:VllmServer llm",
  ]);
  // The mocks mark the whole object that holds a secret.
  expect(server).toMatchObject({
    host: {
      "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
      value: {
        host: CONFIG.address,
        user: "vllm",
        hostKey: CONFIG.hostKey,
        privateKey: CONFIG.privateKey,
      },
    },
    model: { path: CONFIG.modelPath },
  });
});

it("the package's main file does without @pulumi/command", () => {
  const program = `
    require("pulumi-vllm");
    const loaded = Object.keys(require.cache).filter((path) => path.includes("/@pulumi/command/"));
    console.log(loaded.length);
    require("pulumi-vllm/gpu-host");
    console.log(Object.keys(require.cache).some((path) => path.includes("/@pulumi/command/")));`;
  const cwd = join(repositoryFolder, "examples", "gpu-host");
  expect(execFileSync(process.execPath, ["-e", program], { cwd, encoding: "utf8" })).toBe("0\ntrue\n");
});

function valueOf<T>(value: Output<T>): Promise<T> {
  return new Promise((resolve) => {
    value.apply(resolve);
  });
}
