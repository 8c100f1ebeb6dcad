import type { PulumiProject } from "./pulumi-cli.ts";

/** Outputs of the stack as a preview tells them; Pulumi's text for unknown values where only `up` can know. */
export async function previewedOutputs(project: PulumiProject): Promise<unknown> {
  const { code, stdout, stderr, events } = await project.preview();
  if (code !== 0) throw new Error(`preview ended with ${String(code)}:\n${stdout}\n${stderr}`);
  const registered = events.flatMap(({ resOutputsEvent }) => resOutputsEvent?.metadata ?? []);
  // The first one is the stack before the program ran.
  return registered.findLast((step) => step.type === "pulumi:pulumi:Stack")?.new?.outputs;
}
