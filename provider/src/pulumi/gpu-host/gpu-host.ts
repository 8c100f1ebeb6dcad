import { remote } from "@pulumi/command";
import {
  all,
  ComponentResource,
  output,
  secret,
  type ComponentResourceOptions,
  type Input,
  type Output,
} from "@pulumi/pulumi";
import type { HostArgs } from "../host-args";
import type { GpuHostArgs, GpuHostConnection } from "./gpu-host-args";
import { commandLine, scriptText, type ScriptName } from "./scripts";

export type { DiskArgs, DriverArgs, GpuHostArgs, GpuHostConnection, UserArgs } from "./gpu-host-args";

/**
 * What agent and vLLM need of a host beside a driver: Python, and what vLLM compiles with at a start.
 * Source: docs/preflight.md; vLLM 0.32.0 with Triton 3 and FlashInfer: C and C++ compilers, Python.h, ninja.
 */
export const DEFAULT_PACKAGES: readonly string[] = [
  "python3",
  "python3-dev",
  "python3-venv",
  "build-essential",
  "ninja-build",
  "ca-certificates",
];

const DEFAULT_MINIMUM_DRIVER = "570";
const SECRETS = ["password", "privateKey", "privateKeyPassword"] as const;

/**
 * A fresh Ubuntu or Debian machine, made ready for VllmServers by `@pulumi/command`: driver, packages, persistence mode, account, disks. A
 * preview connects to nothing. destroy takes nothing of it away.
 */
export class GpuHost extends ComponentResource {
  /** For `host` of a VllmServer, which then waits until the machine is ready. Known in preview. */
  readonly host: HostArgs;
  /** Version of the NVIDIA driver, as last looked at. */
  readonly driverVersion: Output<string>;
  /** What a firewall of the host keeps from `ports`, in words, as last looked at; "" without ports. */
  readonly firewallHint: Output<string>;

  readonly #name: string;
  readonly #args: GpuHostArgs;
  readonly #connection: remote.CommandArgs["connection"];
  #last: remote.Command | null = null;

  /** @param name unique in the stack */
  constructor(name: string, args: GpuHostArgs, options?: ComponentResourceOptions) {
    super("vllm:index:GpuHost", name, {}, options);
    this.#name = name;
    this.#args = args;
    const connection = withSecrets(args.connection);
    this.#connection = forCommand(connection);
    const { minimum = DEFAULT_MINIMUM_DRIVER, install = "" } = args.driver ?? {};

    const driver = this.#run("driver", [minimum, install]);
    const packages = args.packages ?? DEFAULT_PACKAGES;
    if (packages.length > 0) this.#run("packages", packages);
    if (args.persistenceMode !== false) this.#run("persistence", []);
    const { user } = args;
    if (user !== undefined)
      this.#run("user", [user.name, user.linger === false ? "no" : "yes", ...user.authorizedKeys]);
    for (const [index, disk] of (args.disks ?? []).entries())
      this.#run(
        "disk",
        [disk.device, disk.path, disk.formatWhenEmpty ?? "", user?.name ?? ""],
        `disk-${String(index)}`,
      );
    const ports = (args.ports ?? []).map((port) => output(port).apply(String));
    const firewall = ports.length > 0 ? this.#run("firewall", ports) : null;

    this.driverVersion = driver.stdout.apply((text) => /^driver (\S+)$/m.exec(text)?.[1] ?? "");
    this.firewallHint = firewall === null ? output("") : firewall.stdout.apply((text) => text.trim());
    // A URN is known in preview, and there only when its resource is: whoever needs this waits for all of them.
    const isReady = (this.#last ?? driver).urn;
    this.host = {
      ...connection,
      host: all([connection.host, isReady]).apply(([host]) => host),
      ...(user === undefined ? {} : { user: user.name }),
    };
    this.registerOutputs({
      host: this.host,
      driverVersion: this.driverVersion,
      firewallHint: this.firewallHint,
    });
  }

  /** One after the other: apt and dpkg take turns anyway, and without a driver nothing else is changed. */
  #run(script: ScriptName, words: readonly Input<string>[], suffix: string = script): remote.Command {
    const line = all([this.#args.connection.host, ...words]).apply(([host = "", ...known]) =>
      commandLine(host, known),
    );
    const { triggers } = this.#args;
    this.#last = new remote.Command(
      `${this.#name}-${suffix}`,
      {
        connection: this.#connection,
        create: line,
        stdin: scriptText(script),
        // sshd refuses variables that it was not told to accept.
        addPreviousOutputInEnv: false,
        ...(triggers === undefined ? {} : { triggers: [...triggers] }),
      },
      { parent: this, ...(this.#last === null ? {} : { dependsOn: this.#last }) },
    );
    return this.#last;
  }
}

function withSecrets(connection: GpuHostConnection): GpuHostConnection {
  const marked = SECRETS.flatMap((name) => {
    const value = connection[name];
    return value === undefined ? [] : [[name, secret(value)] as const];
  });
  const proxy = connection.proxy === undefined ? {} : { proxy: secret(connection.proxy) };
  return { ...connection, ...Object.fromEntries(marked), ...proxy };
}

/** Without what only a VllmServer knows, which the plugin would refuse. */
function forCommand(connection: GpuHostConnection): remote.CommandArgs["connection"] {
  const { knownHostsFile: _file, sshConfigFile: _config, python: _python, sudo: _sudo, ...rest } = connection;
  return rest;
}
