/**
 * The provider that Pulumi serialises into the state of every VllmServer, twice (inputs and outputs).
 *
 * destroy and refresh run the text that is in the state, however old: what it calls (`v1` of
 * "pulumi-vllm/runtime") must stay for ever, and the text itself is frozen by a snapshot test. So: no imports,
 * no captured values, no types, nothing but these calls. `require` resolves from the folder of the program.
 *
 * @type {import("@pulumi/pulumi").dynamic.ResourceProvider}
 */
export const blob = {
  check: (olds, news) => require("pulumi-vllm/runtime").v1.check(olds, news),
  diff: (id, olds, news) => require("pulumi-vllm/runtime").v1.diff(id, olds, news),
  create: (inputs) => require("pulumi-vllm/runtime").v1.create(inputs),
  read: (id, props) => require("pulumi-vllm/runtime").v1.read(id, props),
  update: (id, olds, news) => require("pulumi-vllm/runtime").v1.update(id, olds, news),
  delete: (id, props) => require("pulumi-vllm/runtime").v1.delete(id, props),
};
