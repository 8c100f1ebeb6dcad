// npm run format: rewrites what `npm run check` calls unformatted, TypeScript and Python.
import { join } from "node:path";
import { nodeBinFolder, repositoryFolder } from "./places.mjs";
import { failWith, stream } from "./processes.mjs";
import { ensurePythonTools } from "./setup-python-tools.mjs";

const ruff = join(await ensurePythonTools().catch(failWith), "ruff");
const codes = [
  await stream(join(nodeBinFolder, "prettier"), ["--write", "--log-level", "warn", "."], {
    cwd: repositoryFolder,
  }),
  await stream(ruff, ["check", "--fix-only", "--quiet", "."], { cwd: repositoryFolder }),
  await stream(ruff, ["format", "."], { cwd: repositoryFolder }),
];
process.exitCode = Math.max(...codes);
