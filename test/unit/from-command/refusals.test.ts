import { describe, expect, it } from "vitest";
import { rejection } from "../../support/converted";

describe("texts that are refused, with what and where", () => {
  it.each([
    ["echo hello", "no-server "],
    ["pip install vllm && which vllm", "no-server "],
    ["vllm serve a/b & vllm serve c/d &", "several-servers 2"],
    ["for p in 1 2 3; do vllm serve a/b --port 800$p & done", "several-servers 3"],
    ["for p in $PORTS; do vllm serve a/b --port $p & done", "several-servers "],
    ['if [ -n "$X" ]; then vllm serve a/b; else vllm serve c/d; fi', "several-servers 2"],
    ["bash -c 'vllm serve a/b & vllm serve c/d'", "several-servers 2"],
    ["vllm serve a/b --nnodes 2 --node-rank 1", "multi-node --nnodes --node-rank"],
    ["vllm serve a/b --model c/d", "model-twice model"],
    ["vllm serve a/b:Q4_K_M", "gguf-quant-suffix a/b:Q4_K_M"],
    ["vllm serve a/b --config x.yaml", "needs-file --config"],
    ["vllm serve a/b --hf-overrides '{a'", "bad-json --hf-overrides"],
    ["vllm serve a/b c", "stray-word c"],
    ["vllm serve a/b\n  'x", "broken-text line 2, column 3"],
    ["services:\n  a: {image: vllm, command: [\n", "broken-text line 3, column 1"],
    ["apiVersion: v1\nkind: Pod\n", "not-supported kubernetes"],
  ])("%s", async (text, wanted) => {
    expect(await rejection(text)).toBe(wanted);
  });
});
