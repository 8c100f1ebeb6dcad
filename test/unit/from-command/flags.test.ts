import { describe, expect, it } from "vitest";
import { converted, type Inputs } from "../../support/converted";

const model = { repo: "a/b" };

describe("flags", () => {
  it.each<[string, Inputs, readonly string[]]>([
    ["-O3", { extraArgs: { "optimization-level": "3" } }, ["changed-meaning -O"]],
    ["-O=2", { extraArgs: { "optimization-level": "2" } }, ["changed-meaning -O"]],
    [`-O '{"mode":3}'`, { engine: { compilationConfig: { mode: 3 } } }, ["renamed-flag -O"]],
    ["-O.mode=3", { engine: { compilationConfig: { mode: 3 } } }, ["renamed-flag -O"]],
    [
      "-cc.mode 3 --compilation-config.cudagraph_capture_sizes+ 1,2 -cc.cudagraph_capture_sizes+=4",
      { engine: { compilationConfig: { mode: 3, cudagraph_capture_sizes: ["1", "2", "4"] } } },
      [],
    ],
    [
      `--hf-overrides '{"a":1}' --hf-overrides.b.c 2k`,
      { engine: { hfOverrides: { b: { c: 2000 } } } },
      ["repeated-flag --hf-overrides"],
    ],
    [
      "--max-model-len 16K --max_num_batched_tokens 1.5k",
      { engine: { maxModelLen: 16384, maxNumBatchedTokens: 1500 } },
      [],
    ],
    ["--max-model-len -1", { engine: { maxModelLen: "auto" } }, []],
    [
      "--enable-prefix-caching true --no-enforce-eager --async-scheduling False",
      { engine: { enablePrefixCaching: true, enforceEager: false, asyncScheduling: false } },
      ["repaired --enable-prefix-caching", "repaired --async-scheduling"],
    ],
    ["-tensor-parallel-size 2", { engine: { tensorParallelSize: 2 } }, ["repaired --tensor-parallel-size"]],
    [
      '--limit-mm-per-prompt {"image":2}',
      { engine: { limitMmPerPrompt: { image: 2 } } },
      ["repaired --limit-mm-per-prompt"],
    ],
    [
      `--mm-processor-kwargs "{'a': True, 'b': (1, None,)}"`,
      { extraArgs: { "mm-processor-kwargs": { a: true, b: [1, null] } } },
      ["repaired --mm-processor-kwargs"],
    ],
    [
      "--task score --guided-decoding-backend xgrammar --structured-outputs-config.disable_any_whitespace true",
      {
        engine: { runner: "pooling", convert: "classify" },
        extraArgs: { "structured-outputs-config": { backend: "xgrammar", disable_any_whitespace: true } },
      },
      ["renamed-flag --task", "renamed-flag --guided-decoding-backend"],
    ],
    [
      "--cuda-graph-sizes 1 2 4",
      { extraArgs: { "cudagraph-capture-sizes": [1, 2, 4] } },
      ["renamed-flag --cuda-graph-sizes"],
    ],
    [
      "--speculative-model '[ngram]' --num-speculative-tokens 5 --ngram-prompt-lookup-max 4",
      { engine: { speculativeConfig: { method: "ngram", num_speculative_tokens: 5, prompt_lookup_max: 4 } } },
      [
        "renamed-flag --speculative-model",
        "renamed-flag --num-speculative-tokens",
        "renamed-flag --ngram-prompt-lookup-max",
      ],
    ],
    [
      `--lora-modules x=/l/x/ '{"name":"y","path":"/l/y/"}'`,
      { engine: { loraModules: ["x=/l/x", { name: "y", path: "/l/y" }] } },
      [],
    ],
    [
      "--max-lora-rank 64 --allowed-origins '[\"*\"]'",
      { engine: { maxLoraRank: 64 }, extraArgs: { "allowed-origins": ["*"] } },
      [],
    ],
    [
      "--foo bar --such-thing",
      { extraArgs: { foo: "bar", "such-thing": true } },
      ["unknown-flag --foo", "unknown-flag --such-thing"],
    ],
    [
      "--host localhost --port 80",
      { listen: { address: "127.0.0.1", port: 80 } },
      ["privileged-port listen.port"],
    ],
    [
      "--host :: --api-key k --revision v1",
      { model: { repo: "a/b", revision: "v1" }, listen: { address: "::" }, apiKey: "<secret>" },
      ["branch-revision model.revision", "api-key-on-argv --api-key"],
    ],
    [
      "--device-ids 1,2 --hf-token hf_EXAMPLETOKEN",
      { model: { repo: "a/b", token: "<secret>" }, gpus: [1, 2] },
      ["secret-on-argv --hf-token"],
    ],
    [
      `--kv-transfer-config '{"kv_connector":"C","kv_connector_extra_config":{"access_key":"change-me-0009"}}'`,
      {
        extraArgs: {
          "kv-transfer-config": { kv_connector: "C", kv_connector_extra_config: { access_key: "<secret>" } },
        },
      },
      ["secret-in-text extraArgs.kv-transfer-config.kv_connector_extra_config.access_key"],
    ],
    [
      `--speculative-config '{"method":"ngram","num_spec":2}'`,
      { engine: { speculativeConfig: { method: "ngram", num_spec: 2 } } },
      ["refused-value engine.speculativeConfig"],
    ],
    ["--uds /run/x", { extraArgs: { uds: "/run/x" } }, ["refused-value extraArgs.uds"]],
  ])("%s", async (flags, inputs, notes) => {
    expect(await converted(`vllm serve a/b ${flags}`)).toEqual({ inputs: { model, ...inputs }, notes });
  });
});
