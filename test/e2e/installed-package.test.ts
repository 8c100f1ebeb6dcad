import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repositoryFolder } from "../../scripts/places.mjs";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { freePort } from "../support/free-port";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import {
  installedProject,
  pack,
  setKind,
  type PackageManager,
  type ProgramKind,
} from "../support/installed-project";
import { homeThatKnows } from "../support/pasted-project";
import type { PulumiProject } from "../support/pulumi-cli";

/** The package as it would be published, installed into an empty project by each package manager, deploys a server there and takes it away. */

const TYPESCRIPT = `import * as pulumi from "@pulumi/pulumi";
import { VllmServer, type VllmServerArgs } from "pulumi-vllm";

const config = new pulumi.Config();
const args: VllmServerArgs = {
  host: "gpu1",
  model: { path: config.require("modelPath") },
  vllm: { executable: config.require("executable") },
  listen: { port: config.requireNumber("port") },
};
const server = new VllmServer("tiny", args);

export const baseUrl: pulumi.Output<string> = server.baseUrl;
`;
const ESM = TYPESCRIPT.replace(", type VllmServerArgs", "").replace(
  /: (VllmServerArgs|pulumi\.Output<string>)/g,
  "",
);
const COMMONJS = ESM.replace(
  'import * as pulumi from "@pulumi/pulumi"',
  'const pulumi = require("@pulumi/pulumi")',
)
  .replace('import { VllmServer } from "pulumi-vllm"', 'const { VllmServer } = require("pulumi-vllm")')
  .replace("export const baseUrl", "exports.baseUrl");

function textOf({ language, modules }: ProgramKind): string {
  if (language === "TypeScript") return TYPESCRIPT;
  return modules === "ESM" ? ESM : COMMONJS;
}

const typescriptCommonJs: ProgramKind = { language: "TypeScript", modules: "CommonJS" };
const typescriptEsm: ProgramKind = { language: "TypeScript", modules: "ESM" };
const javascriptCommonJs: ProgramKind = { language: "JavaScript", modules: "CommonJS" };
const javascriptEsm: ProgramKind = { language: "JavaScript", modules: "ESM" };

/**
 * Each manager takes one kind through its whole life, another kind each. What a kind changes is how the program and the
 * package are loaded, which preview shows as well: with npm, the most used, and pnpm, whose layout is the strictest, the
 * kinds that are left are previewed.
 */
const ROWS: readonly {
  readonly manager: PackageManager;
  readonly deployed: ProgramKind;
  readonly previewed: readonly ProgramKind[];
}[] = [
  { manager: "npm", deployed: typescriptCommonJs, previewed: [javascriptEsm] },
  { manager: "pnpm", deployed: typescriptEsm, previewed: [typescriptCommonJs, javascriptEsm] },
  { manager: "yarn 1", deployed: javascriptCommonJs, previewed: [typescriptEsm] },
  { manager: "yarn 4", deployed: javascriptEsm, previewed: [] },
  { manager: "yarn 4 with Plug'n'Play", deployed: typescriptEsm, previewed: [] },
];

let bed: GpuHost;
let home: string;
let folder: string;
let tarball: string;

beforeAll(async () => {
  bed = await gpuHost();
  home = homeThatKnows(bed);
  folder = realpathSync(mkdtempSync(join(tmpdir(), "packed-")));
  tarball = await pack(folder);
});

afterAll(async () => {
  await bed.close();
  for (const path of [home, folder]) rmSync(path, { recursive: true, force: true });
});

describe.each(ROWS)("installed by $manager", ({ manager, deployed, previewed }) => {
  let project: PulumiProject;
  let port: number;

  beforeAll(async () => {
    project = await installedProject(manager, tarball, home);
    port = await freePort("127.0.0.1");
    const checkpoint = writeCheckpoint(join(bed.folder, "tiny"), { "config.json": TINY_LLAMA });
    await project.mustRun("config", ["set", "modelPath", checkpoint]);
    await project.mustRun("config", ["set", "executable", bed.executable]);
    await project.mustRun("config", ["set", "port", String(port)]);
  });

  afterAll(async () => {
    await project.remove();
  });

  // Plug'n'Play leaves it in an archive.
  if (manager !== "yarn 4 with Plug'n'Play")
    it("it is the package of this checkout", () => {
      const installed = join(project.folder, "node_modules/pulumi-vllm");
      const own = join(repositoryFolder, "provider");
      const files = readdirSync(join(own, "dist"), { recursive: true, encoding: "utf8" }).sort();
      expect(readdirSync(join(installed, "dist"), { recursive: true, encoding: "utf8" }).sort()).toEqual(
        files,
      );
      for (const name of files.filter((file) => /\.(js|py|sh|json)$/.test(file)))
        expect(readFileSync(join(installed, "dist", name), "utf8")).toBe(
          readFileSync(join(own, "dist", name), "utf8"),
        );
      expect(realpathSync(installed).startsWith(project.folder)).toBe(true);
    });

  it.each(previewed)("$language, $modules: preview", async (kind) => {
    await setKind(project, kind, tarball, textOf(kind));
    expect(await previewedOutputs()).toEqual({ baseUrl: `http://127.0.0.1:${String(port)}/v1` });
  });

  it(`${deployed.language}, ${deployed.modules}: preview, up, destroy`, async () => {
    await setKind(project, deployed, tarball, textOf(deployed));
    expect(await previewedOutputs()).toEqual({ baseUrl: `http://127.0.0.1:${String(port)}/v1` });
    try {
      const { code, stdout, stderr } = await project.up();
      expect(code, `${stdout}\n${stderr}`).toBe(0);
      const [server] = await project.servers();
      expect(server?.outputs).toMatchObject({ status: "ready", generation: 1 });
      const models = await fetch(`http://127.0.0.1:${String(port)}/v1/models`);
      expect(models.status).toBe(200);
      expect((await project.preview(["--expect-no-changes"])).code).toBe(0);
    } finally {
      const { code, stdout, stderr } = await project.destroy();
      expect(code, `${stdout}\n${stderr}`).toBe(0);
    }
    expect([bed.processes(), bed.serverFolders(), await project.servers()]).toEqual([[], [], []]);
  });

  /** Outputs of the stack as a preview tells them. */
  async function previewedOutputs(): Promise<unknown> {
    const { code, stdout, stderr, events } = await project.preview();
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    const registered = events.flatMap(({ resOutputsEvent }) => resOutputsEvent?.metadata ?? []);
    // The first one is the stack before the program ran.
    return registered.findLast((step) => step.type === "pulumi:pulumi:Stack")?.new?.outputs;
  }
});
