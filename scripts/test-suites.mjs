import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { RUN, takeAwayOfTheDead } from "../test/support/host-ledger.ts";
import { nodeBinFolder, repositoryFolder } from "./places.mjs";
import { capture, stream } from "./processes.mjs";

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed a suite that ended badly without naming a failed test counts as one
 * @property {number} skipped
 */

/**
 * @typedef {object} Suite
 * @property {string} name
 * @property {readonly ("uv" | "hf" | "sshd" | "pulumi" | "vllm" | "hosts")[]} needs set up before it runs
 * @property {boolean} isDefault part of a plain `npm test`
 * @property {(env: NodeJS.ProcessEnv, resultFolder: string) => Promise<Counts>} run
 */

/** Cheap ones first: a broken core is known after seconds. @type {readonly Suite[]} */
export const SUITES = [
  { name: "unit", needs: [], isDefault: true, run: vitest("unit") },
  { name: "cases", needs: [], isDefault: true, run: vitest("cases") },
  { name: "agent", needs: ["uv", "hf"], isDefault: true, run: unittest },
  { name: "stand-in", needs: [], isDefault: true, run: vitest("stand-in") },
  { name: "transport", needs: ["sshd"], isDefault: true, run: vitest("transport") },
  { name: "pulumi", needs: ["sshd", "pulumi"], isDefault: true, run: vitest("pulumi") },
  { name: "e2e", needs: ["uv", "hf", "sshd", "pulumi"], isDefault: true, run: vitest("e2e") },
  { name: "hosts", needs: ["hf", "hosts", "sshd", "pulumi"], isDefault: false, run: onHosts("hosts") },
  { name: "vllm", needs: ["uv", "vllm", "hosts", "sshd", "pulumi"], isDefault: false, run: onHosts("vllm") },
];

/** @param {string} project of vitest.config.ts @returns {Suite["run"]} */
function vitest(project) {
  return async (env, resultFolder) => {
    const resultFile = join(resultFolder, `${project}.json`);
    const code = await stream(
      join(nodeBinFolder, "vitest"),
      [
        "run",
        "--project",
        project,
        "--reporter=default",
        "--reporter=json",
        `--outputFile.json=${resultFile}`,
      ],
      { cwd: repositoryFolder, env },
    );
    return countVitest(await readFile(resultFile, "utf8").catch(() => "{}"), code);
  };
}

/**
 * Takes the hosts away whatever happened to the tests: a file that crashed, a run that was interrupted.
 * @param {string} project @returns {Suite["run"]}
 */
function onHosts(project) {
  return async (env, resultFolder) => {
    /** @type {NodeJS.Signals | undefined} */
    let interrupted;
    // The tests get the signal too and end by themselves.
    const onSignal = (/** @type {NodeJS.Signals} */ signal) => {
      interrupted = signal;
    };
    process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
    const run = randomUUID();
    try {
      const counts = await vitest(project)({ ...env, [RUN]: run }, resultFolder);
      if (interrupted !== undefined) throw new Error(`interrupted by ${interrupted}`);
      return counts;
    } finally {
      await takeAwayOfTheDead(run);
      process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    }
  };
}

/** @param {string} report of vitest's json reporter @param {number} code its exit code @returns {Counts} */
function countVitest(report, code) {
  /** @type {{ numPassedTests?: number, numFailedTests?: number, numPendingTests?: number, numTodoTests?: number, testResults?: { status: string, assertionResults: unknown[] }[] }} */
  const {
    numPassedTests = 0,
    numFailedTests = 0,
    numPendingTests = 0,
    numTodoTests = 0,
    testResults = [],
  } = JSON.parse(report);
  const brokenFiles = testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  );
  const failed = numFailedTests + brokenFiles.length;
  return {
    passed: numPassedTests,
    failed: failed === 0 && code !== 0 ? 1 : failed,
    skipped: numPendingTests + numTodoTests,
  };
}

/** @type {Suite["run"]} */
async function unittest(env) {
  const args = ["-m", "unittest", "discover", "-s", "test/agent", "-t", "."];
  const result = await capture("python3", args, { cwd: repositoryFolder, env, show: true });
  const ran = Number(/^Ran (\d+) tests? in /m.exec(result.stderr)?.[1] ?? 0);
  /** @param {string} what @returns {number} */
  const count = (what) => Number(new RegExp(`\\b${what}=(\\d+)`).exec(verdict)?.[1] ?? 0);
  const verdict = result.stderr.match(/^(OK|FAILED|NO TESTS RAN).*$/gm)?.at(-1) ?? "";
  const failed = count("failures") + count("errors") + count("unexpected successes");
  const skipped = count("skipped");
  return {
    passed: Math.max(0, ran - failed - skipped),
    failed: failed === 0 && result.code !== 0 ? 1 : failed,
    skipped,
  };
}
