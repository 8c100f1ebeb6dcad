import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isSecret, output, runtime, type Output } from "@pulumi/pulumi";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DEFAULT_PACKAGES, GpuHost, type GpuHostArgs } from "../../provider/src/pulumi/gpu-host/gpu-host";

/** The component with Pulumi's mocks in place of the engine and of the plugin `command`, which runs no script. */

const COMMAND = "command:remote:Command";
const AS_ROOT = [
  'if [ "$(id -u)" = 0 ]; then exec sh -s -- "$@"; fi;',
  'if sudo -n true 2>/dev/null; then exec sudo -n sh -s -- "$@"; fi;',
  'echo "Cannot prepare $1: found that $(id -un) may not use sudo without a password, need root" >&2;',
  'echo "  change: connection.user (root, or a user with NOPASSWD in sudoers)" >&2; exit 1',
].join(" ");
const CONNECTION = { host: "gpu1.example", user: "ubuntu", privateKey: "the private key" };
const KEYS = ["ssh-ed25519 AAAA one", "ssh-ed25519 BBBB two"];

interface Registered {
  readonly name: string;
  readonly inputs: Readonly<Record<string, unknown>>;
}

let commands: Registered[];
/** "begin NAME" when the engine is asked for a command, "end NAME" when it answers. */
let order: string[];

beforeEach(() => {
  commands = [];
  order = [];
});

afterEach(async () => {
  // Outputs of a component are registered after all else.
  await runtime.disconnect();
});

async function useMocks(isPreview: boolean): Promise<void> {
  await runtime.setMocks(
    {
      call: () => ({}),
      newResource: async ({ type, name, inputs }) => {
        if (type === COMMAND) {
          order.push(`begin ${name}`);
          // Whoever does not wait for it comes now.
          await new Promise((resolve) => setImmediate(resolve));
          const registered: Readonly<Record<string, unknown>> = inputs;
          commands.push({ name, inputs: registered });
          order.push(`end ${name}`);
        }
        const stdout = name.endsWith("-driver") ? "changed: installed it\ndriver 575.57.08\n" : "nothing\n";
        // What a plugin computes is not known in a preview.
        return {
          id: `${name}-id`,
          state: type === COMMAND && !isPreview ? { ...inputs, stdout } : { ...inputs },
        };
      },
    },
    "project",
    "stack",
    isPreview,
  );
}

/** Makes the component and waits until all of it is registered. */
async function made(args: Partial<GpuHostArgs> = {}, isPreview = false): Promise<GpuHost> {
  await useMocks(isPreview);
  const host = new GpuHost("gpu1", { connection: CONNECTION, ...args });
  await valueOf(output(host.host.host));
  order.push("host is known");
  return host;
}

/** Never resolves where the value is not known. */
function valueOf<T>(value: Output<T>): Promise<T> {
  return new Promise((resolve) => {
    value.apply(resolve);
  });
}

function script(name: string): string {
  const folder = join(import.meta.dirname, "../../provider/src/pulumi/gpu-host");
  return ["begin", name].map((part) => readFileSync(join(folder, `${part}.sh`), "utf8")).join("");
}

function line(...words: readonly string[]): string {
  return ["sh", "-c", AS_ROOT, "sh", "gpu1.example", ...words].map((word) => `'${word}'`).join(" ");
}

/** Inputs of a command as the engine gets them: the connection as a secret, with the plugin's own defaults. */
function commandInputs(
  name: string,
  words: readonly string[],
  connection: object = CONNECTION,
): Registered["inputs"] {
  return {
    addPreviousOutputInEnv: false,
    connection: {
      "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
      value: { dialErrorLimit: 10, perDialTimeout: 15, port: 22, ...connection },
    },
    create: line(...words),
    stdin: script(name),
  };
}

describe("a host of which nothing is said", () => {
  it("has driver, packages and persistence mode looked at, by scripts that come on stdin, with a secret connection", async () => {
    await made();
    expect(commands).toEqual([
      { name: "gpu1-driver", inputs: commandInputs("driver", ["570", ""]) },
      { name: "gpu1-packages", inputs: commandInputs("packages", DEFAULT_PACKAGES) },
      { name: "gpu1-persistence", inputs: commandInputs("persistence", []) },
    ]);
  });
});

describe("a host with everything", () => {
  const everything: Partial<GpuHostArgs> = {
    driver: { minimum: "580.65", install: "nvidia-driver-580-server" },
    packages: ["python3"],
    user: { name: "vllm", authorizedKeys: KEYS },
    disks: [
      { device: "UUID=0b2e", path: "/models" },
      { device: "/dev/nvme1n1", path: "/scratch", formatWhenEmpty: "xfs" },
    ],
    ports: [8000, output(8001)],
    triggers: [1],
  };

  it("has one command for each part; only what was asked for is installed, formatted, made", async () => {
    await made(everything);
    const expected = [
      { name: "driver", script: "driver", words: ["580.65", "nvidia-driver-580-server"] },
      { name: "packages", script: "packages", words: ["python3"] },
      { name: "persistence", script: "persistence", words: [] },
      { name: "user", script: "user", words: ["vllm", "yes", ...KEYS] },
      { name: "disk-0", script: "disk", words: ["UUID=0b2e", "/models", "", "vllm"] },
      { name: "disk-1", script: "disk", words: ["/dev/nvme1n1", "/scratch", "xfs", "vllm"] },
      { name: "firewall", script: "firewall", words: ["8000", "8001"] },
    ].map(({ name, script: file, words }) => ({
      name: `gpu1-${name}`,
      inputs: { ...commandInputs(file, words), triggers: [1] },
    }));
    expect(commands).toEqual(expected);
    const names = expected.map(({ name }) => name);
    expect(order).toEqual([...names.flatMap((name) => [`begin ${name}`, `end ${name}`]), "host is known"]);
  });

  it("tells the driver's version and what to open, and logs servers in as the user", async () => {
    const host = await made(everything);
    expect(await valueOf(host.driverVersion)).toBe("575.57.08");
    expect(await valueOf(host.firewallHint)).toBe("nothing");
    expect(await valueOf(output(host.host))).toEqual({ ...CONNECTION, user: "vllm" });
  });
});

describe("what is switched off", () => {
  it("has no command", async () => {
    await made({ packages: [], persistenceMode: false });
    expect(commands.map(({ name }) => name)).toEqual(["gpu1-driver"]);
  });

  it("leaves the user's services to the login", async () => {
    await made({ packages: [], user: { name: "vllm", authorizedKeys: [], linger: false } });
    expect(commands.at(-1)?.inputs["create"]).toBe(line("vllm", "no"));
  });
});

describe("host", () => {
  it("passes on what only a VllmServer knows, which the plugin never gets", async () => {
    const more = {
      knownHostsFile: "/known",
      sshConfigFile: "/config",
      python: "/python",
      sudo: "never",
    } as const;
    const host = await made({ connection: { ...CONNECTION, ...more } });
    expect(commands[0]?.inputs).toEqual(commandInputs("driver", ["570", ""]));
    expect(await valueOf(output(host.host))).toEqual({ ...CONNECTION, ...more });
  });

  it("is secret in what logs in, and in nothing else", async () => {
    const proxy = { host: "jump.example", password: "of the jump host" };
    const { host } = await made({ connection: { ...CONNECTION, password: "of the user", proxy } });
    const secrets = await Promise.all(
      Object.entries(host).map(async ([name, value]) => [name, await isSecret(output(value))]),
    );
    expect(Object.fromEntries(secrets)).toEqual({
      host: false,
      user: false,
      password: true,
      privateKey: true,
      proxy: true,
    });
  });

  it("is known in preview, when what the scripts print is not", async () => {
    const host = await made({ ports: [8000] }, true);
    expect(await valueOf(output(host.host))).toEqual(CONNECTION);
  });

  it("is known only when the last part is done, so a server waits for all of them", async () => {
    await made({ packages: [] });
    expect(order).toEqual([
      ...["begin gpu1-driver", "end gpu1-driver"],
      ...["begin gpu1-persistence", "end gpu1-persistence"],
      "host is known",
    ]);
  });
});
