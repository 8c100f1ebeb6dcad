import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PHASE_ROWS, PHASES } from "../../provider/src/core/log-phase-rows";
import { phaseOf, type StartProgress, startProgress } from "../../provider/src/core/log-phases";

test.each([
  [
    "INFO 06-30 12:15:09 [__init__.py:244] Automatically detected platform cuda.",
    "importing",
    "importing",
    null,
  ],
  [
    "(APIServer pid=1) INFO 10-02 11:12:20 [utils.py:299]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.28.0",
    "configuring",
    "vLLM 0.28.0 reads its configuration",
    null,
  ],
  [
    "INFO 12-01 04:25:26 [api_utils.py:347] vLLM server version 0.32.0+cpu, serving model /m",
    "configuring",
    "vLLM 0.32.0+cpu reads its configuration",
    null,
  ],
  [
    "(EngineCore pid=3) INFO 10-02 11:12:35 [core.py:77] Initializing a V1 LLM engine (v0.28.0) with config: model='m'",
    "starting engine",
    "starting the engine",
    null,
  ],
  [
    "(Worker_TP0 pid=9) INFO 10-02 11:12:35 [parallel_state.py:1906] world_size=8 rank=0 local_rank=0 distributed_init_method=x backend=nccl",
    "connecting workers",
    "connecting 8 workers",
    null,
  ],
  [
    "(Worker_TP0 pid=1010) Loading safetensors checkpoint shards:  62% Completed | 74/119 [03:18<05:29,  3.26s/it]",
    "loading weights",
    "loading weights 62 % (74/119 shards)",
    62,
  ],
  [
    "Multi-thread loading shards:  10% Completed | 1/10 [00:01<00:09]",
    "loading weights",
    "loading weights 10 % (1/10 shards)",
    10,
  ],
  [
    "INFO 03-22 19:44:24 [gpu_model_runner.py:1176] Model loading took 15.6271 GB and 3.440221 seconds",
    "weights loaded",
    "weights loaded, 15.6271 GiB on each GPU",
    null,
  ],
  [
    "INFO 06-30 12:15:30 [backends.py:151] Directly load the compiled graph(s) for shape None from the cache, took 4.127 s",
    "compiling",
    "loading compiled graphs",
    null,
  ],
  [
    "INFO 12-01 04:25:26 [kv_cache_utils.py:2327] GPU KV cache size: 131,072 tokens, Maximum concurrency for 40,960 tokens per request: 3.20x",
    "sizing KV cache",
    "KV cache 131,072 tokens, 3.20x concurrency",
    null,
  ],
  [
    "INFO 05-21 09:24:11 [kv_cache_utils.py:634] GPU KV cache size: 329,088 tokens",
    "sizing KV cache",
    "KV cache 329,088 tokens",
    null,
  ],
  [
    "Capturing CUDA graphs (mixed prefill-decode, PIECEWISE):   0%|  | 0/51\rCapturing CUDA graphs (mixed prefill-decode, PIECEWISE):  45%|███▌  | 23/51 [00:05<00:00, 10.03it/s]",
    "capturing piecewise graphs",
    "capturing CUDA graphs 45 %",
    45,
  ],
  [
    "Capturing CUDA graphs (decode, FULL): 100%|███| 35/35",
    "capturing full graphs",
    "capturing CUDA graphs (full) 100 %",
    100,
  ],
  [
    "Capturing CUDA graph shapes: 100%|███| 67/67 [00:19<00:00,  3.38it/s]",
    "capturing piecewise graphs",
    "capturing CUDA graphs 100 %",
    100,
  ],
  [
    '{"asctime":"x","levelname":"INFO","message":"Starting vLLM server on http://0.0.0.0:8000","vllm_process_name":"APIServer"}',
    "starting API server",
    "starting the API server",
    null,
  ],
  [
    "(APIServer pid=1) \u001b[32mINFO\u001b[0m:     Application startup complete.",
    "API server up",
    "the API server is up",
    null,
  ],
])("%s", (line, phase, text, percent) => {
  expect(phaseOf(line)).toEqual({ phase, text, percent });
});

test("a line about something else says nothing and changes nothing", () => {
  const before: StartProgress = { phase: "compiling", text: "compiling", percent: null };
  expect(phaseOf("INFO 06-30 12:15:53 [launcher.py:29] Route: /health, Methods: GET")).toBeNull();
  expect(startProgress(before, "anything")).toBe(before);
  expect(startProgress(null, "anything")).toBeNull();
});

test("a real start reads as a story", () => {
  const file = join(import.meta.dirname, "../cases/diagnosis/healthy-warm-start.json");
  const { log }: { log: string } = JSON.parse(readFileSync(file, "utf8"));
  const texts: string[] = [];
  let progress: StartProgress | null = null;
  for (const line of log.split("\n")) {
    progress = startProgress(progress, line);
    if (progress !== null && progress.text !== texts.at(-1)) texts.push(progress.text);
  }
  expect(texts).toEqual([
    "importing",
    "vLLM 0.9.1 reads its configuration",
    "reading the configuration",
    "starting the engine",
    "loading weights 0 % (0/4 shards)",
    "loading weights 100 % (4/4 shards)",
    "weights loaded, 14.9889 GiB on each GPU",
    "loading compiled graphs",
    "54.32 GiB for the KV cache",
    "capturing CUDA graphs 100 %",
    "engine ready in 38.22 s",
    "starting the API server",
    "the API server is up",
  ]);
});

test("phases and percentages never go backwards, in whatever order the workers print", () => {
  const line = fc.oneof(
    fc
      .integer({ min: 0, max: 100 })
      .map((percent) => `Loading safetensors checkpoint shards: ${String(percent)}% Completed | 1/9`),
    fc
      .integer({ min: 0, max: 100 })
      .map((percent) => `Capturing CUDA graphs (decode, FULL): ${String(percent)}%|`),
    fc.constantFrom(
      "Resolved architecture: X",
      "Compiling a graph for x",
      "noise",
      "Supported tasks: ['generate']",
    ),
  );
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      let before: StartProgress | null = null;
      for (const one of lines) {
        const after = startProgress(before, one);
        if (before !== null && after !== null) {
          const step = PHASES.indexOf(after.phase) - PHASES.indexOf(before.phase);
          expect(step).toBeGreaterThanOrEqual(0);
          if (step === 0) expect(after.percent ?? 0).toBeGreaterThanOrEqual(before.percent ?? 0);
        }
        before = after;
      }
    }),
  );
});

test("every row has its source", () => {
  expect(PHASE_ROWS.filter((row) => row.source === "")).toEqual([]);
});
