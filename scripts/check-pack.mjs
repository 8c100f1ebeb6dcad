// What `npm publish` would publish: the right kinds of files, within the budget, and a package that loads where it is installed.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { overBudget } from "./pack-budget.mjs";
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

const TYPED = `
    import { VllmServer, type VllmServerArgs } from "pulumi-vllm";
    import { v1 } from "pulumi-vllm/runtime";
    import { inputProblems } from "pulumi-vllm/inputs";
    export const made: typeof VllmServer = VllmServer;
    export const problems: typeof inputProblems = inputProblems;
    export const args: VllmServerArgs = { host: "gpu1", model: { path: "/models/tiny" } };
    export const create: typeof v1.create = v1.create;`;

/** How the compiler of a user's program may be set up to find types. */
const RESOLUTIONS = [
  { module: "node16", moduleResolution: "node16" },
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
];

/** Programs of a user; each fails when what it takes from the package is not there. */
const READERS = {
  "by-require.cjs": `
    const { VllmServer } = require("pulumi-vllm");
    const { v1 } = require("pulumi-vllm/runtime");
    const { inputProblems } = require("pulumi-vllm/inputs");
    if (typeof VllmServer !== "function" || typeof v1.create !== "function") process.exit(1);
    if (inputProblems({}).length !== 2) process.exit(1);`,
  "by-import.mjs": `
    import { VllmServer } from "pulumi-vllm";
    import { v1 } from "pulumi-vllm/runtime";
    if (typeof VllmServer !== "function" || typeof v1.create !== "function") process.exit(1);`,
  "by-types.mts": TYPED,
  "by-types.cts": TYPED,
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
  /** @type {{ files: { path: string }[], unpackedSize: number, entryCount: number }[]} */
  const [listed] = JSON.parse(
    await run("npm", ["pack", "--json", "--dry-run", "--ignore-scripts"], provider),
  );
  if (listed === undefined) throw new Error("Cannot check the package: npm pack lists nothing");
  const paths = listed.files.map((file) => file.path);
  const stray = paths.filter((path) => !KINDS.some(({ pattern }) => pattern.test(path)));
  const absent = KINDS.filter(({ pattern }) => !paths.some((path) => pattern.test(path))).map(
    ({ kind }) => kind,
  );
  if (stray.length > 0) throw new Error(`Published, but of no known kind: ${stray.join(", ")}`);
  if (absent.length > 0) throw new Error(`Not published: ${absent.join(", ")}`);
  const over = overBudget(listed, JSON.parse(await readFile(join(provider, "package.json"), "utf8")));
  if (over.length > 0) throw new Error(`Over the budget of scripts/pack-budget.mjs: ${over.join("; ")}`);
}

/** What publint knows of how tools read a package.json. @param {string} tarball */
async function checkPublished(tarball) {
  const { buffer } = new Uint8Array(await readFile(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: buffer }, level: "suggestion", strict: true });
  const told = messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
  if (told.length > 0) throw new Error(`publint: ${told.join("; ")}`);
}

/** Installs the tarball as a user would, and loads it by require, by import and by its types. */
async function checkInstalled() {
  /** @type {{ filename: string }[]} */
  const [packed] = JSON.parse(
    await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], provider),
  );
  const tarball = join(folder, packed?.filename ?? "");
  await checkPublished(tarball);
  const project = join(folder, "project");
  await mkdir(project);
  await writeFile(
    join(project, "package.json"),
    JSON.stringify({ name: "reader", private: true, type: "module" }),
  );
  // --prefer-offline: npm ci has just put all of it into npm's cache.
  const install = ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  await run("npm", [...install, tarball], project);
  for (const [file, text] of Object.entries(READERS)) await writeFile(join(project, file), text);
  await run(process.execPath, ["by-require.cjs"], project);
  await run(process.execPath, ["by-import.mjs"], project);
  await run(join(project, "node_modules", ".bin", "pulumi-vllm"), ["--help"], project);
  for (const resolution of RESOLUTIONS) await checkTypes(project, resolution);
}

/** @param {string} project @param {(typeof RESOLUTIONS)[number]} resolution */
async function checkTypes(project, { module, moduleResolution }) {
  const strict = ["--noEmit", "--strict", "--skipLibCheck", "false", "--target", "es2022"];
  const found = ["--module", module, "--moduleResolution", moduleResolution];
  const node = ["--types", "node", "--typeRoots", join(repositoryFolder, "node_modules", "@types")];
  const files = ["by-types.mts", "by-types.cts"];
  const seen = await run(
    join(nodeBinFolder, "tsc"),
    [...strict, ...found, ...node, "--listFiles", ...files],
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
    throw new Error(`${command} ${args.join(" ")} failed:\n${lastLines(result.stdout + result.stderr, 10)}`);
  return result.stdout;
}
