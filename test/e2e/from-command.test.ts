import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { freePort } from "../support/free-port";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { homeThatKnows, pastedProject } from "../support/pasted-project";
import { runProgram } from "../support/patch-command";

/** What `from-command` prints is deployed as it is: the program, the commands for its config, `pulumi up`, a question to the model. */

const KEY = "sk-of-the-test";

let bed: GpuHost;
let home: string;
let models: string;

beforeAll(async () => {
  bed = await gpuHost();
  models = join(bed.folder, "models");
  mkdirSync(models);
  writeCheckpoint(join(models, "tiny"), { "config.json": TINY_LLAMA });
  // The host's own vllm is found by its PATH; ours is where a person has it, in ~/.ssh/config.
  bed.offerByLogin();
  home = homeThatKnows(bed);
});

afterAll(async () => {
  await bed.close();
  rmSync(home, { recursive: true, force: true });
});

interface Pasted {
  readonly what: string;
  readonly text: (port: number) => string;
  /** What the server answers as the model's name. */
  readonly model: () => string;
  readonly gpus: readonly string[] | null;
  /** Lines of stderr that say what has to be set. */
  readonly set: readonly string[];
  readonly key: string | null;
}

const gpu = (index: number): string => `GPU-5ca1ab1e-0000-4000-8000-00000000000${String(index)}`;

const PASTED: readonly Pasted[] = [
  {
    what: "a script",
    text: (port) => `#!/bin/bash
export VLLM_LOGGING_LEVEL=INFO
MODEL=${models}/tiny/
ARGS=(--tensor-parallel-size 2 --max-model-len 0.2k)
CUDA_VISIBLE_DEVICES=2,3 nohup ${bed.executable} serve "$MODEL" "\${ARGS[@]}" \\
  --served-model-name tiny-llm \\
  --host localhost --port ${String(port)} --api-key "${KEY}" > vllm.log 2>&1 &`,
    model: () => "tiny-llm",
    gpus: [gpu(2), gpu(3)],
    set: ["  pulumi config set host HOST", "  pulumi config set --secret apiKey"],
    key: KEY,
  },
  {
    what: "docker run",
    text: (port) => `docker run -d --gpus '"device=5"' --ipc=host -v ${models}:/models \\
  -e VLLM_USE_V1=1 -p 127.0.0.1:${String(port)}:8000 vllm/vllm-openai:latest \\
  --model /models/tiny --max_model_len 128 --swap-space 4`,
    // Its clients know it by the path in the container.
    model: () => "/models/tiny",
    gpus: [gpu(5)],
    set: ["  pulumi config set host HOST"],
    key: null,
  },
  {
    what: "a systemd unit",
    text: (port) => `[Unit]
Description=tiny
[Service]
User=root
Environment="VLLM_API_KEY=${KEY}" VLLM_LOGGING_LEVEL=INFO
ExecStart=${bed.executable} serve ${models}/tiny \\
  --port ${String(port)} --enforce-eager --tensor-parallel-size 1
Restart=always
[Install]
WantedBy=multi-user.target`,
    model: () => `${models}/tiny`,
    gpus: null,
    set: ["  pulumi config set host HOST", "  pulumi config set --secret apiKey"],
    key: KEY,
  },
];

describe("the program that is printed for", () => {
  it.each(PASTED)("$what serves what the text served", async ({ text, model, gpus, set, key }) => {
    const port = await freePort("127.0.0.1");
    const { code, out, err } = await runProgram(["from-command", "-"], home, Buffer.from(text(port)));
    expect(code).toBe(0);
    expect([out, err].join("\n")).not.toContain(KEY);
    expect(err.split("\n").filter((line) => line.startsWith("  pulumi config set"))).toEqual(set);
    const project = await pastedProject(out, home);
    try {
      await project.mustRun("config", ["set", "host", "gpu1"]);
      if (key !== null) await project.mustRun("config", ["set", "--secret", "apiKey", key]);
      const { code: ended, stdout, stderr } = await project.up();
      expect(ended, `${stdout}\n${stderr}`).toBe(0);
      const [server] = await project.servers();
      expect(server?.outputs).toMatchObject({ status: "ready", servedModelName: model() });
      if (gpus !== null) expect(server?.outputs?.["gpuUuids"]).toEqual(gpus);
      expect(await answeredModel(port, model(), key)).toEqual([200, model()]);
      if (key !== null) expect((await answeredModel(port, model(), null))[0]).toBe(401);
    } finally {
      expect((await project.destroy()).code).toBe(0);
      await project.remove();
    }
    expect([bed.processes(), bed.serverFolders()]).toEqual([[], []]);
  });
});

async function answeredModel(
  port: number,
  model: string,
  key: string | null,
): Promise<readonly [status: number, model: unknown]> {
  const answer = await fetch(`http://127.0.0.1:${String(port)}/v1/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ model, prompt: "2 and 2 is", max_tokens: 4 }),
  });
  const body: unknown = await answer.json();
  return [answer.status, typeof body === "object" && body !== null && "model" in body ? body.model : null];
}
