import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { makeBed, type Bed } from "../support/bed";
import { writeCountingModel } from "../support/counting-model";
import { freePort } from "../support/free-port";
import { homeThatKnows, pastedProject } from "../support/pasted-project";
import { runProgram } from "../support/patch-command";
import { realVllm } from "../support/real-vllm";

/** The real vLLM 0.32.0 (CPU build), served by the program that `from-command` makes of the line that starts it by hand. */

let bed: Bed;
let home: string;

beforeAll(async () => {
  bed = await makeBed();
  home = homeThatKnows(bed);
  writeCountingModel(join(bed.home, "counting"), {});
});

afterAll(async () => {
  await bed.close();
  rmSync(home, { recursive: true, force: true });
});

const modelsSchema = z.object({ data: z.array(z.object({ id: z.string(), max_model_len: z.number() })) });
const completionSchema = z.object({ model: z.string(), choices: z.array(z.object({ text: z.string() })) });

it("serves from a pasted command what the command served", async () => {
  const port = await freePort("127.0.0.1");
  const text = `user@box:~$ export VLLM_CPU_KVCACHE_SPACE=1 VLLM_CPU_OMP_THREADS_BIND=nobind HF_HUB_OFFLINE=1
user@box:~$ nohup ${realVllm()} serve ~/counting/ \\
    --served-model-name counting other-name \\
    --dtype bfloat16 --max-model-len 0.1k --enforce_eager \\
    --no-enable-prefix-caching --disable-log-requests \\
    --host localhost --port=${String(port)} > vllm.log 2>&1 &`;
  const { code, out, err } = await runProgram(["from-command", text, "--host", "gpu1", "--name", "tiny"]);
  expect(code, err).toBe(0);
  const project = await pastedProject(out, home);
  try {
    const { code: ended, stdout, stderr } = await project.up();
    expect(ended, `${stdout}\n${stderr}`).toBe(0);
    const url = `http://127.0.0.1:${String(port)}/v1`;
    const models = modelsSchema.parse(await (await fetch(`${url}/models`)).json());
    expect(models.data.map(({ id, max_model_len }) => [id, max_model_len])).toEqual([
      ["counting", 100],
      ["other-name", 100],
    ]);
    const answer = await fetch(`${url}/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "other-name", prompt: [5, 6, 7], max_tokens: 3, temperature: 0 }),
    });
    // It answers under its first name, whichever it was asked by.
    const { model, choices } = completionSchema.parse(await answer.json());
    expect([answer.status, model, choices.length]).toEqual([200, "counting", 1]);
  } finally {
    expect((await project.destroy()).code).toBe(0);
    await project.remove();
  }
  expect(bed.processes()).toEqual([]);
});
