// What the published package may weigh and bring along. A growth that is meant is written down here, with its reason.

/** @typedef {{ readonly unpackedSize: number, readonly entryCount: number }} Packed as `npm pack --json` tells */

/** Bytes unpacked, and files: 0.1.0 has 2.1 MB in 882 files, nine tenths of it code and types of its own. */
export const MOST = { unpackedBytes: 2_500_000, files: 1_000 };

/** Every package that is installed with ours, and why it is worth it. */
export const DEPENDENCIES = {
  "@grpc/grpc-js": "progress lines on the resource: the engine's own channel; @pulumi/pulumi brings the same",
  "jsonc-parser": "changes a checkpoint's config in place, so that the rest of its text stays as it is",
  "ssh-config": "reads ~/.ssh/config",
  ssh2: "SSH without a program on the machine that runs Pulumi",
  unbash: "reads the shell text that from-command is given",
  yaml: "reads compose files and inputs, writes serve.yaml",
  zod: "reads inputs, what the host answers and old state",
};
export const PEER_DEPENDENCIES = {
  "@pulumi/pulumi": "the program's own, one for both",
  "@pulumi/command": "of pulumi-vllm/gpu-host alone, and optional",
};

/**
 * What is over the budget; [] when nothing is. What is no longer needed counts too: the table says what is so.
 * @param {Packed} packed
 * @param {{ readonly dependencies?: object, readonly peerDependencies?: object, readonly optionalDependencies?: object }} manifest
 * @returns {readonly string[]}
 */
export function overBudget({ unpackedSize, entryCount }, manifest) {
  const { dependencies = {}, peerDependencies = {}, optionalDependencies = {} } = manifest;
  return [
    ...(unpackedSize > MOST.unpackedBytes
      ? [`unpacked ${String(unpackedSize)} bytes, at most ${String(MOST.unpackedBytes)}`]
      : []),
    ...(entryCount > MOST.files ? [`${String(entryCount)} files, at most ${String(MOST.files)}`] : []),
    ...differences("dependencies", dependencies, DEPENDENCIES),
    ...differences("peerDependencies", peerDependencies, PEER_DEPENDENCIES),
    ...differences("optionalDependencies", optionalDependencies, {}),
  ];
}

/** @param {string} field @param {object} found @param {object} allowed @returns {readonly string[]} */
function differences(field, found, allowed) {
  const added = Object.keys(found).filter((name) => !Object.hasOwn(allowed, name));
  const gone = Object.keys(allowed).filter((name) => !Object.hasOwn(found, name));
  return [
    ...added.map((name) => `${field} has ${name}, which is not in the table`),
    ...gone.map((name) => `${field} has no ${name}, which is in the table`),
  ];
}
