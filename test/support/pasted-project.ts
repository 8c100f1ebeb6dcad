import { cpSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryFolder } from "../../scripts/places.mjs";
import type { Bed } from "./bed.ts";
import { PulumiProject } from "./pulumi-cli.ts";
import { sshConfigOf } from "./ssh-config.ts";

/** A home folder that knows a bed's host as gpu1, in ~/.ssh/config, as a person has it. */
export function homeThatKnows(bed: Bed): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "pasted-")));
  mkdirSync(join(home, ".ssh"), { mode: 0o700 });
  cpSync(sshConfigOf(bed), join(home, ".ssh/config"));
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
