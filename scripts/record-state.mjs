// node scripts/record-state.mjs COMMIT [NAME]: deploys a server with the package as it was at COMMIT, records what it left in the
// stack's state and on the host to test/e2e/fixtures/earlier-states/NAME.json (default: the commit), and then goes on with today's package
// while that server runs: refresh, up, destroy. NAME "-" records nothing.
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { TINY_LLAMA, writeCheckpoint } from "../test/support/checkpoints.ts";
import { buildEarlierPackage } from "../test/support/earlier-package.ts";
import { filesBelow, withoutPlaces } from "../test/support/earlier-state.ts";
import { freePort } from "../test/support/free-port.ts";
import { gpuHost } from "../test/support/gpu-host.ts";
import { nodeBinFolder, repositoryFolder } from "./places.mjs";
import { failWith, say } from "./processes.mjs";

const [commit = "", name = commit] = process.argv.slice(2);
process.env["PATH"] = `${nodeBinFolder}:${process.env["PATH"] ?? ""}`;
const folder = mkdtempSync(join(tmpdir(), "earlier-package-"));
const bed = await gpuHost();
try {
  await record();
} catch (error) {
  failWith(error);
} finally {
  useModules(join(repositoryFolder, "node_modules"));
  await bed.close();
  rmSync(folder, { recursive: true, force: true });
}

async function record() {
  useModules(buildEarlierPackage(commit, folder));
  const port = await freePort("127.0.0.1");
  const declared = {
    model: { path: writeCheckpoint(join(bed.folder, "tiny"), { "config.json": TINY_LLAMA }) },
    configOverrides: { rope_theta: 20000 },
    vllm: { executable: bed.executable },
    engine: { servedModelName: ["kimi"], maxModelLen: 128, tensorParallelSize: 2, gpuMemoryUtilization: 0.9 },
    extraArgs: { "stream-interval": 4 },
    environment: { HF_TOKEN: "recorded token", OMP_NUM_THREADS: "2" },
    listen: { port },
    apiKey: "recorded-api-key",
    service: { restart: { max: 3 } },
    timeouts: { ready: 120 },
  };
  await bed.declare({ kimi: declared });
  say(await bed.project.mustRun("up"));
  if (name !== "-") {
    /** @type {unknown} */
    const state = JSON.parse(
      await bed.project.mustRun("stack", ["export", "--stack", "dev", "--show-secrets"]),
    );
    const { sshd } = bed;
    const recording = withoutPlaces(
      { commit, declared, state, files: filesBelow(bed.home, ".local/state/pulumi-vllm") },
      {
        folder: bed.folder,
        standIn: dirname(dirname(bed.executable)),
        sshPort: sshd.port,
        listenPort: port,
        user: sshd.user,
        privateKey: sshd.privateKey,
        hostKey: sshd.hostKeyLine,
        bootId: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
      },
    );
    const path = join(repositoryFolder, "test", "e2e", "fixtures", "earlier-states", `${name}.json`);
    writeFileSync(path, `${JSON.stringify(recording, null, 2)}\n`);
  }
  useModules(join(repositoryFolder, "node_modules"));
  for (const verb of ["refresh", "preview", "up"]) say(await bed.project.mustRun(verb));
}

/** @param {string} modules */
function useModules(modules) {
  const link = join(bed.project.folder, "node_modules");
  rmSync(link, { force: true });
  symlinkSync(modules, link);
}
