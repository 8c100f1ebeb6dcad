import type { PulumiProject, PulumiResult } from "../test/support/pulumi-cli.ts";

/**
 * What Pulumi itself costs: dynamic resources whose provider does nothing. Its create() says when it was called, which splits
 * an `up` into what comes before the work and what comes after it.
 */
export function floorProgram(count: number): string {
  return `import { dynamic } from "@pulumi/pulumi";
const provider = {
  check: async (_olds, news) => ({ inputs: news }),
  diff: async (_id, olds, news) => ({ changes: olds.value !== news.value }),
  create: async (inputs) => ({ id: "trivial", outs: { ...inputs, at: Date.now() } }),
  read: async (id, props) => ({ id, props }),
  update: async (_id, _olds, news) => ({ outs: { ...news, at: Date.now() } }),
  delete: async () => undefined,
};
class Trivial extends dynamic.Resource {
  constructor(name, args) {
    super(provider, name, args);
  }
}
for (let index = 0; index < ${String(count)}; index += 1) new Trivial(\`trivial-\${String(index)}\`, { value: "1" });
`;
}

export interface FloorUp {
  /** The whole CLI. */
  readonly seconds: number;
  /** From the start of the CLI until create() is called, and from there to the end. */
  readonly before: number;
  readonly after: number;
}

/** One `up` that creates one trivial resource, then takes it away again. */
export async function floorUp(project: PulumiProject): Promise<FloorUp> {
  const begin = Date.now();
  const up = demandOk(await project.up(), "up of the floor");
  const { deployment } = await project.stackExport();
  const at = deployment.resources?.map((one) => one.outputs?.["at"]).find((one) => typeof one === "number");
  if (typeof at !== "number") throw new Error("the trivial resource did not say when it was created");
  demandOk(await project.destroy(), "destroy of the floor");
  const before = (at - begin) / 1000;
  return { seconds: up.seconds, before, after: up.seconds - before };
}

/** A measurement of something that failed is none. */
export function demandOk(result: PulumiResult, what: string): PulumiResult {
  if (result.code !== 0)
    throw new Error(`${what} ended with ${String(result.code)}:\n${result.stdout}\n${result.stderr}`);
  return result;
}
