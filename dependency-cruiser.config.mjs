/** Who may import what. The picture is in ARCHITECTURE.md. */
const pureLibraries = ["zod", "jsonc-parser", "yaml", "unbash"];

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    {
      name: "core-is-pure",
      comment:
        "core/ may import core/, zod, the pure libraries and node:crypto (for createHash), nothing else",
      severity: "error",
      from: { path: "^provider/src/core/" },
      to: {
        pathNot: [
          "^provider/src/core/",
          ...pureLibraries.map((name) => `(^|/)node_modules/${name}/`),
          "^(node:)?crypto$",
        ],
      },
    },
    {
      name: "ssh2-only-in-ssh",
      severity: "error",
      from: { path: "^provider/src/", pathNot: "^provider/src/ssh/" },
      to: { path: "(^|/)node_modules/(@types/)?ssh2/" },
    },
    {
      name: "pulumi-only-in-pulumi",
      comment: "besides provider/src/pulumi only stacks, examples, tests, bench and set-up know Pulumi's SDK",
      severity: "error",
      from: { path: "^provider/src/", pathNot: "^provider/src/pulumi/" },
      to: { path: "(^|/)node_modules/@pulumi/" },
    },
    {
      name: "ssh-does-not-know-the-rest",
      severity: "error",
      from: { path: "^provider/src/ssh/" },
      to: { path: "^provider/src/", pathNot: "^provider/src/(ssh|core)/" },
    },
    {
      name: "programs-import-only-the-package",
      comment: "stacks and examples see what a user sees: the compiled package, by its name",
      severity: "error",
      from: { path: "^(stacks|examples)/" },
      to: { path: "^(provider/(?!dist/)|test/|scripts/|bench/)" },
    },
    {
      name: "product-does-not-import-tests",
      severity: "error",
      from: { path: "^provider/src/" },
      to: { path: "^(test|bench|scripts|stacks|examples)/" },
    },
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-orphans",
      severity: "error",
      from: {
        orphan: true,
        path: "^provider/src/",
        pathNot: "\\.d\\.ts$",
      },
      to: {},
    },
    { name: "resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: "(^|/)node_modules/|^provider/dist/" },
    // Types count too: a type of another layer is knowledge of that layer.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
      extensions: [".ts", ".mts", ".js", ".mjs", ".cjs", ".json", ".d.ts"],
    },
  },
};
