import { PulumiProject, type PulumiResult } from "../test/support/pulumi-cli.ts";
import { demandGoingOn } from "./interruption.ts";

/** Properties that a resource has in state. */
export interface Properties {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** In the project's folder, so that the provider's text, which goes into every state, stays small. */
const LIKE_FILE = "like.json";

/**
 * What Pulumi itself costs: dynamic resources whose provider does nothing. Its create() says when it was called, which splits
 * an `up` into what comes before the work and what comes after it.
 */
export function floorProgram(count: number): string {
  return `import { dynamic } from "@pulumi/pulumi";
const like = () => JSON.parse(process.getBuiltinModule("fs").readFileSync("${LIKE_FILE}", "utf8"));
const provider = {
  check: async (_olds, news) => ({ inputs: news }),
  diff: async (_id, olds, news) => ({ changes: olds.value !== news.value }),
  create: async (inputs) => ({ id: "trivial", outs: { ...inputs, ...like().outputs, at: Date.now() } }),
  read: async (id, props) => ({ id, props }),
  update: async (_id, _olds, news) => ({ outs: { ...news, at: Date.now() } }),
  delete: async () => undefined,
};
const { inputs, outputs } = like();
const fromProvider = Object.fromEntries(Object.keys(outputs).map((name) => [name, undefined]));
class Trivial extends dynamic.Resource {
  constructor(name, args) {
    super(provider, name, { ...fromProvider, ...args });
  }
}
for (let index = 0; index < ${String(count)}; index += 1) new Trivial(\`trivial-\${String(index)}\`, { ...inputs, value: "1" });
`;
}

/** @param like what the resources hold beside one property: Pulumi's own work grows with it */
export async function floorProject(
  count: number,
  like: Properties = { inputs: {}, outputs: {} },
): Promise<PulumiProject> {
  const project = await PulumiProject.create({ program: floorProgram(count) });
  await project.writeFile(LIKE_FILE, JSON.stringify(like));
  return project;
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
  demandGoingOn();
  if (result.code !== 0)
    throw new Error(`${what} ended with ${String(result.code)}:\n${result.stdout}\n${result.stderr}`);
  return result;
}
