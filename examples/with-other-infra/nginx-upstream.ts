import { rm, writeFile } from "node:fs/promises";
import * as pulumi from "@pulumi/pulumi";

export interface NginxUpstreamArgs {
  /** The file to write, on the machine that runs Pulumi. Change: replacement. */
  readonly file: pulumi.Input<string>;
  /** "host:port" of each server. */
  readonly servers: pulumi.Input<pulumi.Input<string>[]>;
}

/** What the provider gets: the same with every output known. */
interface Inputs {
  readonly name: string;
  readonly file: string;
  readonly servers: readonly string[];
}

async function write({ name, file, servers }: Inputs): Promise<void> {
  const lines = [
    `upstream ${name} {`,
    "  least_conn;",
    ...servers.map((server) => `  server ${server};`),
    "}",
  ];
  await writeFile(file, `${lines.join("\n")}\n`);
}

async function remove({ file }: Inputs): Promise<void> {
  await rm(file, { force: true });
}

/** Pulumi keeps the text of these functions in the state: they may use what is in this file and Node's own modules. */
const provider: pulumi.dynamic.ResourceProvider<Inputs, Inputs> = {
  create: async (inputs) => {
    await write(inputs);
    return { id: inputs.file, outs: inputs };
  },
  diff: (_id, before, after) =>
    Promise.resolve({
      changes: JSON.stringify(before.servers) !== JSON.stringify(after.servers) || before.file !== after.file,
      replaces: before.file === after.file ? [] : ["file"],
    }),
  update: async (_id, _before, after) => {
    await write(after);
    return { outs: after };
  },
  delete: (_id, before) => remove(before),
};

/** Stands for a load balancer or DNS record of a cloud's provider: an `upstream` block of nginx in a file. */
export class NginxUpstream extends pulumi.dynamic.Resource {
  declare readonly file: pulumi.Output<string>;
  declare readonly servers: pulumi.Output<string[]>;

  /** @param name of the resource and of the upstream */
  constructor(name: string, args: NginxUpstreamArgs, options?: pulumi.CustomResourceOptions) {
    super(provider, name, { ...args, name }, options);
  }
}
