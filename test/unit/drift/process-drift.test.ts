import { describe, expect, it } from "vitest";
import { driftOf, type Drift } from "../../../provider/src/core/drift";
import { NO_DIFFERENCES, type Differences } from "../../../provider/src/core/observed-differences";
import { launch, observed, runningServer } from "../../support/host-facts";

const drift = (differences: Partial<Differences>): readonly Drift[] =>
  driftOf(
    observed({
      server: runningServer(
        { launch, overlay: null, warnings: [], kvCacheAuto: null },
        { differences: { ...NO_DIFFERENCES, ...differences } },
      ),
    }),
  );
const argument = (path: Drift["path"], found: Drift["found"], shown: string): Drift => ({
  path,
  found,
  words: `${shown} on the command line of the running process`,
  repair: "restart",
});

describe("the environment of the running process", () => {
  it("is told by name and hash, each variable at its input", () => {
    expect(
      drift({
        environment: [
          { name: "HF_HOME", kind: "changed", hash: "0a1b2c3d" },
          { name: "NCCL_DEBUG", kind: "missing", hash: null },
          { name: "VLLM_X", kind: "added", hash: "11112222" },
          { name: "VLLM_API_KEY", kind: "changed", hash: "33334444" },
        ],
      }),
    ).toEqual([
      {
        path: ["environment", "HF_HOME"],
        found: "(on the host, sha256 0a1b2c3d)",
        words: "another value in the running process",
        repair: "restart",
      },
      {
        path: ["environment", "NCCL_DEBUG"],
        found: undefined,
        words: "not set in the running process",
        repair: "restart",
      },
      {
        path: ["environment", "VLLM_X"],
        found: "(on the host, sha256 11112222)",
        words: "set in the running process, not declared",
        repair: "restart",
      },
      {
        path: ["apiKey"],
        found: "(on the host, sha256 33334444)",
        words: "another value in the running process",
        repair: "restart",
      },
    ]);
  });
});

describe("the command line of the running process", () => {
  it("is told flag by flag, each at its input", () => {
    const added = [
      "--max-model-len",
      "64",
      "--stream-interval=8",
      "--no-enable-prefix-caching",
      "--enforce-eager",
    ];
    expect(drift({ arguments: { added, missing: [] } })).toEqual([
      argument(["engine", "maxModelLen"], 64, "64"),
      argument(["extraArgs", "stream-interval"], 8, "8"),
      argument(["engine", "enablePrefixCaching"], false, "false"),
      argument(["engine", "enforceEager"], true, "true"),
    ]);
  });

  it("hides what a flag of a secret says", () => {
    expect(drift({ arguments: { added: ["--api-key", "***"], missing: [] } })).toEqual([
      argument(["apiKey"], "(on the host)", "another value"),
    ]);
  });

  it("tells words of no flag, and words it lacks, at configHash", () => {
    const words = "the command line of the running process has /models/other, lacks /models/kimi";
    expect(drift({ arguments: { added: ["/models/other"], missing: ["/models/kimi"] } })).toEqual([
      { path: ["configHash"], found: words, words, repair: "restart" },
    ]);
  });
});
