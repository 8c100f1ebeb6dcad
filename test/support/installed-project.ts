import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { nodeBinFolder, repositoryFolder } from "../../scripts/places.mjs";
import { capture } from "../../scripts/processes.mjs";
import { ensurePnpmAndYarn } from "../../scripts/setup-pnpm-and-yarn.mjs";
import { PulumiProject } from "./pulumi-cli.ts";

/** A project outside the workspace, made as a person makes one, with the package as `npm pack` packs it. */

export type PackageManager = "npm" | "pnpm" | "yarn 1" | "yarn 4" | "yarn 4 with Plug'n'Play";

/** What yarn 4 is told by a file, since it reads a setting of its own and not npm's. */
const LINKERS: Partial<Readonly<Record<PackageManager, string>>> = {
  "yarn 4": "node-modules",
  "yarn 4 with Plug'n'Play": "pnp",
};

/** As `yarn exec pulumi` has it: without them Pulumi finds no package. Source: yarn 4.18.1, `yarn exec printenv NODE_OPTIONS`. */
const PLUG_AND_PLAY = { NODE_OPTIONS: "--require ./.pnp.cjs --experimental-loader ./.pnp.loader.mjs" };

/** What a program is written in, and what Node takes it for. */
export interface ProgramKind {
  readonly language: "TypeScript" | "JavaScript";
  readonly modules: "CommonJS" | "ESM";
}

/** The folders in which yarn 1 and yarn 4 keep packages. */
const KEPT_PACKAGES = /\/yarn\/v\d+$|\/yarn4\/cache$/;

/** An installation that takes longer is one that will not end. */
const INSTALL_SECONDS = 240;

/** What the project has beside the package, as `pulumi new` gives it: the versions that are tried. */
const DEPENDENCIES = { "@pulumi/pulumi": "3.276.0" };
const DEV_DEPENDENCIES = { typescript: "~6.0.3", "@types/node": "^24" };

/** What the package's README says that pnpm has to be told, as it stands there. */
function pnpmWorkspace(): string {
  const readme = readFileSync(join(repositoryFolder, "provider/README.md"), "utf8");
  const [, block] = /^```yaml\n(allowBuilds:\n.*?)^```$/ms.exec(readme) ?? [];
  if (block === undefined) throw new Error("Cannot set up pnpm: provider/README.md does not say how");
  return block;
}

/** @param folder where it is put @returns path of the tarball */
export async function pack(folder: string): Promise<string> {
  const words = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const printed = await mustRun("npm", words, join(repositoryFolder, "provider"), process.env);
  const [packed]: readonly { readonly filename: string }[] = JSON.parse(printed);
  if (packed === undefined) throw new Error(`Cannot pack the package: npm printed ${printed}`);
  return join(folder, packed.filename);
}

/** @param home HOME of the CLI, where ~/.ssh/config lies */
export async function installedProject(
  manager: PackageManager,
  tarball: string,
  home: string,
): Promise<PulumiProject> {
  const empty = mkdtempSync(join(tmpdir(), "empty-project-"));
  writeFileSync(join(empty, "Pulumi.yaml"), "name: own\nruntime: nodejs\n");
  const linker = LINKERS[manager];
  const env = { HOME: home, ...(linker === "pnp" ? PLUG_AND_PLAY : {}) };
  const project = await PulumiProject.create({ copyOf: empty, nodeModules: null, env });
  rmSync(empty, { recursive: true });
  try {
    await setKind(project, { language: "JavaScript", modules: "CommonJS" }, tarball, "");
    if (manager === "pnpm") await project.writeFile("pnpm-workspace.yaml", pnpmWorkspace());
    if (linker !== undefined) await project.writeFile(".yarnrc.yml", `nodeLinker: ${linker}\n`);
    await install(manager, project.folder);
  } catch (error) {
    await project.remove();
    throw error;
  }
  return project;
}

/** Makes the project's program one of this kind. */
export async function setKind(
  project: PulumiProject,
  { language, modules }: ProgramKind,
  tarball: string,
  program: string,
): Promise<void> {
  const main = language === "TypeScript" ? "index.ts" : "index.js";
  const manifest = {
    ...{ name: "own", private: true, main },
    ...(modules === "ESM" ? { type: "module" } : {}),
    dependencies: { ...DEPENDENCIES, "pulumi-vllm": `file:${tarball}` },
    devDependencies: DEV_DEPENDENCIES,
  };
  await project.writeFile("package.json", JSON.stringify(manifest));
  await project.writeFile(main, program);
}

async function install(manager: PackageManager, folder: string): Promise<void> {
  const { bin, yarn4Bin, cache } = await ensurePnpmAndYarn();
  const yarn = manager === "yarn 1" ? "yarn" : join(yarn4Bin, "yarn");
  const yarn4 = ["install", "--no-immutable", "--mode=skip-build"];
  const words: Readonly<Record<PackageManager, readonly string[]>> = {
    npm: ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"],
    pnpm: ["install", "--prefer-offline", "--reporter=append-only", "--store-dir", join(cache, "pnpm")],
    "yarn 1": [
      ...["install", "--ignore-scripts", "--prefer-offline", "--no-progress", "--non-interactive"],
      ...["--cache-folder", join(cache, "yarn")],
    ],
    "yarn 4": yarn4,
    "yarn 4 with Plug'n'Play": yarn4,
  };
  // Each has a registry of its own where none is told; npm's is the one that this machine is set up for.
  const registry = (await mustRun("npm", ["config", "get", "registry"], folder, process.env)).trim();
  const path = [nodeBinFolder, bin, process.env["PATH"] ?? ""].join(delimiter);
  const env = {
    ...process.env,
    ...{ npm_config_registry: registry, YARN_REGISTRY: registry, PATH: path },
    ...{ YARN_NPM_REGISTRY_SERVER: registry, YARN_ENABLE_TELEMETRY: "0" },
    // A cache in the project, which Plug'n'Play loads from, filled from one that outlives it.
    ...{ YARN_ENABLE_GLOBAL_CACHE: "false", YARN_GLOBAL_FOLDER: join(cache, "yarn4") },
  };
  await mustRun(manager.startsWith("yarn") ? yarn : manager, words[manager], folder, env);
  if (manager === "yarn 1") await forgetPackage(join(cache, "yarn"));
  if (manager.startsWith("yarn 4")) await forgetPackage(join(cache, "yarn4"));
}

/** Yarn keeps every tarball that it was ever given; those of the registry are wanted again, ours are not. */
async function forgetPackage(cache: string): Promise<void> {
  const names = await readdir(cache, { recursive: true, withFileTypes: true });
  const own = names.filter(
    ({ name, parentPath }) => name.includes("pulumi-vllm-") && KEPT_PACKAGES.test(parentPath),
  );
  for (const { name, parentPath } of own) await rm(join(parentPath, name), { recursive: true, force: true });
}

async function mustRun(
  command: string,
  words: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const { code, stdout, stderr } = await capture(command, words, {
    cwd,
    env,
    timeoutSeconds: INSTALL_SECONDS,
  });
  if (code !== 0)
    throw new Error(`${command} ${words.join(" ")} ended with ${String(code)}:\n${stdout}\n${stderr}`);
  return stdout;
}
