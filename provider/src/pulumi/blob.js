/**
 * The provider that Pulumi serialises into the state of every VllmServer, twice (inputs and outputs).
 *
 * destroy and refresh run the text that is in the state, however old: what it names (`v1` of
 * "pulumi-vllm/runtime") must stay for ever, and the text itself is frozen by a snapshot test. So: no imports,
 * no captured values, no types. `require` resolves from the folder of the program.
 *
 * One function instead of six hooks makes it a third: Pulumi calls configure() before any hook of a provider that it
 * has read from its text, and looks the hooks up afterwards. It must not wait for anything: the next call of the same
 * process takes the provider as it is by then.
 * Source: @pulumi/pulumi 3.276 cmd/dynamic-provider/index.js, getProvider.
 *
 * @type {import("@pulumi/pulumi").dynamic.ResourceProvider}
 */
export const blob = {
  configure: function () {
    Object.assign(this, require("pulumi-vllm/runtime").v1);
  },
};
