import { expect, it } from "vitest";
import { serverEnvironment } from "../../provider/src/core/vllm-command";
import { spec } from "../support/host-facts";

it("the process gets what its log and its caches need; what the user gave stays secret", () => {
  const declared = spec({
    apiKey: "k",
    environment: { A: "1" },
    timeouts: { connect: 1, install: 1, download: 1, ready: 90.5, stall: 1, stop: 1 },
  });
  expect(serverEnvironment(declared, { home: "/home/u" })).toEqual({
    environment: {
      NO_COLOR: "1",
      PYTHONUNBUFFERED: "1",
      TQDM_BAR_FORMAT: "{desc}: {percentage:3.0f}% | {n_fmt}/{total_fmt}\n",
      TQDM_MININTERVAL: "2",
      VLLM_DISABLE_LOG_LOGO: "1",
      VLLM_NO_USAGE_STATS: "1",
      VLLM_ENGINE_READY_TIMEOUT_S: "91",
      TORCHINDUCTOR_CACHE_DIR: "/home/u/.cache/pulumi-vllm/torchinductor",
    },
    secretEnvironment: { A: "1", VLLM_API_KEY: "k" },
  });
});
