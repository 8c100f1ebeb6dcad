// npm run check [-- NAME...]: everything that can be said about the code without running it. All of it runs, also
// after a failure, so that one run shows all there is to do.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { nodeBinFolder, repositoryFolder } from "./places.mjs";
import { capture, failWith } from "./processes.mjs";
import { ensurePythonTools } from "./setup-python-tools.mjs";

const pythonTools = await ensurePythonTools().catch(failWith);
const shellFiles = await capture(
  "git",
  ["ls-files", "--cached", "--others", "--exclude-standard", "*.sh", ".ci/run"],
  {
    cwd: repositoryFolder,
  },
);
const examples = readdirSync(join(repositoryFolder, "examples")).map((name) => `examples/${name}`);

/** @type {readonly { name: string, commands: readonly (readonly string[])[] }[]} */
const steps = [
  { name: "lint", commands: [[node("eslint"), "--max-warnings", "0", "."]] },
  { name: "names", commands: [[process.execPath, "scripts/check-names.mjs"]] },
  {
    name: "format",
    commands: [
      [node("prettier"), "--check", "--log-level", "warn", "."],
      [python("ruff"), "format", "--check", "--quiet", "."],
    ],
  },
  // Stacks and examples see the compiled package.
  { name: "build", commands: [[process.execPath, "scripts/build-provider.mjs"]] },
  {
    name: "types",
    commands: ["provider", ".", "stacks", ...examples].map((project) => [
      node("tsc"),
      "--noEmit",
      "-p",
      project,
    ]),
  },
  {
    name: "layers",
    commands: [
      [
        node("depcruise"),
        ...["--config", "dependency-cruiser.config.mjs"],
        ...["provider/src", "stacks", "examples", "test", "scripts", "bench"],
      ],
    ],
  },
  { name: "dead code", commands: [[node("knip"), "--no-progress"]] },
  {
    name: "python",
    commands: [
      [python("ruff"), "check", "--quiet", "."],
      [python("mypy"), "-p", "agent"],
      [python("mypy"), "-p", "stand_in_vllm"],
      // ruff and mypy no longer know 3.9's standard library; this one does.
      [python("vermin"), "-t=3.9-", "--violations", "--no-tips", "--quiet", "provider/src/remote/agent"],
    ],
  },
  { name: "shell", commands: [[python("shellcheck"), ...shellFiles.stdout.trim().split("\n")]] },
  {
    name: "docs",
    commands: [
      [process.execPath, "scripts/inputs-page.mjs", "--check"],
      // An export without a docstring is an error of typedoc.json's.
      [node("typedoc"), "--emit", "none"],
    ],
  },
  {
    name: "package",
    commands: [
      [process.execPath, "scripts/check-pack.mjs"],
      [process.execPath, "scripts/release.mjs", "--dry-run"],
    ],
  },
];

const names = process.argv.slice(2);
const unknown = names.filter((name) => !steps.some((step) => step.name === name));
if (unknown.length > 0)
  failWith(`Cannot check ${unknown.join(", ")}: there are ${steps.map((step) => step.name).join(", ")}`);

const env = { ...process.env, PATH: `${nodeBinFolder}:${pythonTools}:${process.env.PATH ?? ""}` };
/** @type {string[]} */
const failed = [];
const chosen = steps.filter(({ name }) => names.length === 0 || names.includes(name));
// What the others read comes first and alone; of the rest two at a time, because lint alone takes half of it.
const [first, rest] = [
  chosen.filter(({ name }) => name === "build"),
  chosen.filter(({ name }) => name !== "build"),
];
for (const step of first) await runStep(step);
await Promise.all(
  [0, 1].map(async () => {
    for (let step = rest.shift(); step !== undefined; step = rest.shift()) await runStep(step);
  }),
);
console.log(failed.length === 0 ? "check: all well" : `check: ${failed.join(", ")} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** @param {(typeof steps)[number]} step */
async function runStep(step) {
  const begin = Date.now();
  let output = "";
  for (const [command = "", ...args] of step.commands) {
    const result = await capture(command, args, { cwd: repositoryFolder, env });
    if (result.code !== 0) output += `$ ${[command, ...args].join(" ")}\n${result.stdout}${result.stderr}\n`;
  }
  const seconds = ((Date.now() - begin) / 1000).toFixed(1);
  console.log(`${output === "" ? "ok    " : "FAILED"} ${step.name} (${seconds} s)`);
  if (output === "") return;
  failed.push(step.name);
  console.log(output);
}

/** @param {string} program */
function node(program) {
  return join(nodeBinFolder, program);
}

/** @param {string} program */
function python(program) {
  return join(pythonTools, program);
}
