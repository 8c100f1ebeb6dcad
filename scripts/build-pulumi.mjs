import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "./places.mjs";
import { capture, lastLines, say } from "./processes.mjs";
import { LANGUAGE_HOST, LANGUAGE_HOST_VERSION, PULUMI_VERSION } from "./pulumi-parts.mjs";

/** Where both programs keep their version; empty, the CLI's own version checks break. */
const VERSION_VARIABLE = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version";

const PROGRAMS = [
  {
    name: LANGUAGE_HOST,
    package: "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs",
    version: LANGUAGE_HOST_VERSION,
    tags: [],
    usually: "30 s",
  },
  {
    name: "pulumi",
    package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
    version: PULUMI_VERSION,
    tags: ["-tags", "osusergo grpcnotrace"],
    usually: "6 min on 2 cores",
  },
];

const FETCH_SECONDS = 900;
const COMPILE_SECONDS = 3600;
const REPORT_EVERY_SECONDS = 15;

/**
 * Builds the CLI and its Node language host from the Go module proxy into ROOT/bin.
 * @param {string} root an existing folder
 * @returns {Promise<void>}
 */
export async function buildFromModuleProxy(root) {
  const go = await capture("go", ["version"], { timeoutSeconds: 30 });
  if (go.code !== 0) throw new Error("needs Go (1.25 or newer), which is not on PATH");
  say(
    `Pulumi CLI ${PULUMI_VERSION}: building from the Go module proxy with ${go.stdout.trim()}; about 8 min, once`,
  );
  // Outside the folder that is thrown away after a cut run: the next run goes on where this one stopped.
  const buildCache = join(cacheFolder(), `pulumi-${PULUMI_VERSION}.go-build`);
  const env = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-mod=mod", GOCACHE: buildCache, GOWORK: "off" };
  for (const program of PROGRAMS) {
    const module = join(root, `module-${program.name}`);
    await mkdir(module, { recursive: true });
    await runGo(["mod", "init", "build"], module, env, 60);
    say(`  fetching ${program.name} ${program.version} (usually under a minute)`);
    await runGo(["get", `${program.package}@v${program.version}`], module, env, FETCH_SECONDS);
    say(`  compiling ${program.name} (usually ${program.usually})`);
    const flags = ["-trimpath", "-ldflags", `-s -w -X ${VERSION_VARIABLE}=v${program.version}`];
    const target = join(root, "bin", program.name);
    await compile(["build", "-v", ...program.tags, ...flags, "-o", target, program.package], module, env);
    await rm(module, { recursive: true, force: true });
  }
  // 1.7 GB that nothing needs again. The modules (1.8 GB) stay in Go's own cache: `go clean -modcache` removes them.
  await rm(buildCache, { recursive: true, force: true });
}
buildFromModuleProxy.title = "build from the Go module proxy";

/**
 * @param {string[]} args
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 */
async function compile(args, cwd, env) {
  let packages = 0;
  const begin = Date.now();
  const timer = setInterval(() => {
    say(
      `    ${String(packages)} packages compiled, ${String(Math.round((Date.now() - begin) / 1000))} s so far`,
    );
  }, REPORT_EVERY_SECONDS * 1000);
  try {
    // With -v every finished package is one line.
    await runGo(args, cwd, env, COMPILE_SECONDS, () => (packages += 1));
  } finally {
    clearInterval(timer);
  }
}

/**
 * @param {string[]} args
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 * @param {number} timeoutSeconds
 * @param {() => void} [onLine]
 */
async function runGo(args, cwd, env, timeoutSeconds, onLine) {
  const result = await capture("go", args, { cwd, env, timeoutSeconds, onLine });
  if (result.code !== 0)
    throw new Error(`go ${args.slice(0, 2).join(" ")} failed:\n${lastLines(result.stderr)}`);
}
