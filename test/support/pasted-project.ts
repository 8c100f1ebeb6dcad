import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryFolder } from "../../scripts/places.mjs";
import type { Bed } from "./bed.ts";
import { PulumiProject } from "./pulumi-cli.ts";
import { sshConfigOf } from "./ssh-config.ts";

/** A home folder that knows the beds' hosts as gpu1, gpu2 and so on, in ~/.ssh/config, as a person has it. */
export function homeThatKnows(...beds: readonly Bed[]): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "pasted-")));
  mkdirSync(join(home, ".ssh"), { mode: 0o700 });
  const files = beds.map((bed, index) => sshConfigOf(bed, `gpu${String(index + 1)}`));
  writeFileSync(join(home, ".ssh/config"), files.map((file) => readFileSync(file, "utf8")).join("\n"));
  return home;
}

/** A project as a person makes it, with a printed text as its TypeScript program. */
export async function pastedProject(program: string, home: string): Promise<PulumiProject> {
  const folder = mkdtempSync(join(home, "project-"));
  writeFileSync(join(folder, "Pulumi.yaml"), "name: pasted\nruntime: nodejs\n");
  for (const file of ["package.json", "tsconfig.json"])
    cpSync(join(repositoryFolder, "examples/single-server", file), join(folder, file));
  writeFileSync(join(folder, "index.ts"), program);
  return await PulumiProject.create({ copyOf: folder, env: { HOME: home } });
}
