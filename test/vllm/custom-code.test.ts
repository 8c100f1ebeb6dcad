import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isRealVllmThere, REAL_VLLM } from "../support/vllm-driver";

test.skipIf(!isRealVllmThere)(
  "the real transformers and vLLM find the code, tokenizer, chat template and adapter of a checkpoint through its overlay",
  () => {
    const top = join(import.meta.dirname, "../..");
    const folder = mkdtempSync(join(tmpdir(), "custom-code-"));
    try {
      const driver = join(import.meta.dirname, "custom_code_driver.py");
      const run = spawnSync(join(REAL_VLLM, "bin", "python"), [driver, folder], {
        cwd: top,
        env: {
          ...process.env,
          PYTHONPATH: join(top, "provider/src/remote"),
          PYTHONDONTWRITEBYTECODE: "1",
          VLLM_NO_USAGE_STATS: "1",
          VLLM_CACHE_ROOT: join(folder, "cache"),
          VLLM_LOGGING_LEVEL: "ERROR",
          HF_HUB_OFFLINE: "1",
          NO_COLOR: "1",
          TMPDIR: folder,
        },
        encoding: "utf8",
        timeout: 540_000,
      });
      expect(run.status, run.stderr).toBe(0);
      // The length is the overlay's, all else the checkpoint's.
      expect(JSON.parse(run.stdout.trim().split("\n").at(-1) ?? "")).toEqual({
        config: ["TinyConfig", 128, 4711],
        byVllm: ["TinyConfig", 128, 4711],
        modelConfig: "TinyConfig",
        tokens: [1, 2],
        chat: "say: one two",
        adapterRank: 8,
        isUntouched: true,
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
