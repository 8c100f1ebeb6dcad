// What `npm publish` would publish: the right kinds of files, and a package that loads where it is installed.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeBinFolder, repositoryFolder } from "./places.mjs";
import { capture, lastLines } from "./processes.mjs";

const provider = join(repositoryFolder, "provider");

/** Every published file is of one of these kinds, and each kind is there. */
const KINDS = [
  { kind: "code", pattern: /^dist\/(.+\/)?[a-z0-9-]+\.js$/ },
  { kind: "types", pattern: /^dist\/(.+\/)?[a-z0-9-]+\.d\.ts$/ },
  { kind: "tables", pattern: /^dist\/core\/(.+\/)?[a-z0-9.-]+\.json$/ },
  { kind: "agent", pattern: /^dist\/remote\/agent\/[a-z0-9_]+\.py$/ },
  { kind: "scripts", pattern: /^dist\/(remote\/agent|pulumi\/gpu-host)\/[a-z-]+\.sh$/ },
  { kind: "program", pattern: /^bin\/pulumi-vllm\.js$/ },
  { kind: "package.json", pattern: /^package\.json$/ },
  { kind: "README.md", pattern: /^README\.md$/ },
  { kind: "LICENSE", pattern: /^LICENSE$/ },
];

/** Programs of a user; each fails when what it takes from the package is not there. */
const READERS = {
  "by-require.cjs": `
    const { VllmServer } = require("pulumi-vllm");
    const { v1 } = require("pulumi-vllm/runtime");
    if (typeof VllmServer !== "function" || typeof v1.create !== "function") process.exit(1);`,
  "by-import.mjs": `
    import { VllmServer } from "pulumi-vllm";
    import { v1 } from "pulumi-vllm/runtime";
    if (typeof VllmServer !== "function" || typeof v1.create !== "function") process.exit(1);`,
  "by-types.mts": `import { VllmServer } from "pulumi-vllm"; export const made: typeof VllmServer = VllmServer;`,
  "by-types.cts": `import { VllmServer } from "pulumi-vllm"; export const made: typeof VllmServer = VllmServer;`,
};

const folder = await mkdtemp(join(tmpdir(), "pulumi-vllm-pack-"));
try {
  await checkFiles();
  await checkInstalled();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function checkFiles() {
  /** @type {{ files: { path: string }[] }[]} */
  const [listed] = JSON.parse(
    await run("npm", ["pack", "--json", "--dry-run", "--ignore-scripts"], provider),
  );
  const paths = (listed?.files ?? []).map((file) => file.path);
  const stray = paths.filter((path) => !KINDS.some(({ pattern }) => pattern.test(path)));
  const absent = KINDS.filter(({ pattern }) => !paths.some((path) => pattern.test(path))).map(
    ({ kind }) => kind,
  );
  if (stray.length > 0) throw new Error(`Published, but of no known kind: ${stray.join(", ")}`);
  if (absent.length > 0) throw new Error(`Not published: ${absent.join(", ")}`);
}

/** Installs the tarball as a user would, and loads it by require, by import and by its types. */
async function checkInstalled() {
  /** @type {{ filename: string }[]} */
  const [packed] = JSON.parse(
    await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], provider),
  );
  const project = join(folder, "project");
  await mkdir(project);
  await writeFile(
    join(project, "package.json"),
    JSON.stringify({ name: "reader", private: true, type: "module" }),
  );
  // --prefer-offline: npm ci has just put all of it into npm's cache.
  const install = ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  await run("npm", [...install, join(folder, packed?.filename ?? "")], project);
  for (const [file, text] of Object.entries(READERS)) await writeFile(join(project, file), text);
  await run(process.execPath, ["by-require.cjs"], project);
  await run(process.execPath, ["by-import.mjs"], project);
  await run(join(project, "node_modules", ".bin", "pulumi-vllm"), ["--help"], project);
  const types = [
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "false",
    "--module",
    "nodenext",
    "--types",
    "node",
  ];
  const typeRoots = ["--typeRoots", join(repositoryFolder, "node_modules", "@types")];
  const tsc = join(nodeBinFolder, "tsc");
  const seen = await run(
    tsc,
    [...types, ...typeRoots, "--listFiles", "by-types.mts", "by-types.cts"],
    project,
  );
  // A dependency's types may want a newer compiler or other options than a user has (zod 4 does), and cost seconds.
  const inner = seen.match(/(?<=\/node_modules\/)(zod|ssh2|@types\/ssh2)(?=\/)/g) ?? [];
  if (inner.length > 0)
    throw new Error(`The types of the package bring along those of ${[...new Set(inner)].join(", ")}`);
}

/** @param {string} command @param {string[]} args @param {string} cwd @returns {Promise<string>} its stdout */
async function run(command, args, cwd) {
  const result = await capture(command, args, { cwd });
  if (result.code !== 0)
    throw new Error(`${command} ${args.join(" ")} failed:\n${lastLines(result.stderr, 10)}`);
  return result.stdout;
}
