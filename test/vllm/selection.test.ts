import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { REAL_VLLM } from "../support/vllm-parser";

const judgedSchema = z.array(
  z.object({
    title: z.string(),
    ours: z.union([z.string(), z.array(z.string())]),
    all: z.union([z.string(), z.array(z.string())]),
    taken: z.array(z.string()),
  }),
);

/** What the loader takes from the whole repository is Mistral's layout; we take the other copy, which is whole too. */
const OTHER_COPY = ["Mistral's copy", "Mistral's copy in shards", "Mistral's in a folder"];

test("the real loader reads every weight that is downloaded, and the same ones as from the whole repository", () => {
  const top = join(import.meta.dirname, "../..");
  const run = spawnSync(
    join(REAL_VLLM, "bin", "python"),
    [join(import.meta.dirname, "selection_driver.py")],
    {
      cwd: top,
      env: {
        ...process.env,
        PYTHONPATH: join(top, "provider/src/remote"),
        VLLM_NO_USAGE_STATS: "1",
        HF_HUB_OFFLINE: "1",
        NO_COLOR: "1",
      },
      encoding: "utf8",
      timeout: 300_000,
    },
  );
  expect(run.status, run.stderr).toBe(0);
  const judged = judgedSchema.parse(JSON.parse(run.stdout.trim().split("\n").at(-1) ?? ""));
  expect(judged.length).toBeGreaterThan(20);
  for (const { title, ours, all, taken } of judged) {
    expect(ours, title).toEqual([...taken].sort());
    if (!OTHER_COPY.includes(title)) expect(all, title).toEqual(ours);
  }
});
