import { describe, expect, it } from "vitest";
import { driftLine, driftOf, type Drift } from "../../../provider/src/core/drift";
import { NO_DIFFERENCES } from "../../../provider/src/core/observed-differences";
import { launch, observed, runningServer, spec } from "../../support/host-facts";

const wanted =
  'max-model-len: 8192\nhost: "127.0.0.1"\nport: 8000\nhf-overrides: "{\\"a\\":1}"\nstream-interval: 4\n';
const drift = (found: string | null, isRead = false, marks: readonly string[] = []): readonly Drift[] => {
  const differences = { ...NO_DIFFERENCES, config: { wanted, found, isRead } };
  const server = runningServer({ launch, overlay: null, warnings: [], kvCacheAuto: null }, { differences });
  return driftOf(observed({ server }), {
    configHash: "f00d",
    claimId: null,
    service: spec().service,
    marks,
  });
};
const edited = (from: string, to: string): string => wanted.replace(from, to);

describe("an edited serve.yaml", () => {
  it("shows at the input that says the flag, and needs no restart while nobody has read it", () => {
    expect(drift(edited("8192", "4096"))).toEqual([
      {
        path: ["engine", "maxModelLen"],
        found: 4096,
        words: "4096 in serve.yaml since it was started, declared 8192",
        repair: "live",
      },
    ]);
  });

  it("needs a restart once a process was started with it", () => {
    expect(drift(edited("8192", "4096"), true)).toMatchObject([
      {
        words: "4096 in serve.yaml, with which the running server was started, declared 8192",
        repair: "restart",
      },
    ]);
  });

  it.each([
    [edited("port: 8000", "port: 9000"), "listen.port", 9000],
    [edited("127.0.0.1", "0.0.0.0"), "listen.address", "0.0.0.0"],
    [edited("stream-interval: 4", "stream-interval: 8"), 'extraArgs["stream-interval"]', 8],
    [edited("stream-interval: 4\n", ""), 'extraArgs["stream-interval"]', undefined],
    [`${wanted}kv-cache-dtype: "fp8"\n`, "kvCacheDtype", "fp8"],
    [`${wanted}tp: 2\n`, "engine.tensorParallelSize", 2],
    [`${wanted}no-enable-prefix-caching: true\n`, "engine.enablePrefixCaching", false],
    [`${wanted}served-model-name:\n  - "a"\n`, "engine.servedModelName", ["a"]],
    [edited('1}"', '2}"'), "engine.hfOverrides", { a: 2 }],
    [`${wanted}fingerprint-value: "beef"\n`, "configHash", "beef"],
  ])("%j is told at %s", (found, place, value) => {
    const [one, ...others] = drift(found);
    expect(others).toEqual([]);
    expect(one === undefined ? "" : driftLine(one)).toMatch(
      new RegExp(`^${place.replace(/[[\]]/g, "\\$&")}: `),
    );
    expect(one?.found).toEqual(value);
  });

  it("tells each flag by itself", () => {
    expect(drift("max-model-len: 1\nport: 1\n").map(({ path }) => path.join("."))).toEqual([
      "engine.hfOverrides",
      "listen.address",
      "engine.maxModelLen",
      "listen.port",
      "extraArgs.stream-interval",
    ]);
  });

  it("hides a secret, and what the program marked secret", () => {
    expect(drift(`${wanted}api-key: "sesame"\n`)).toEqual([
      {
        path: ["apiKey"],
        found: "(on the host)",
        words: "another value in serve.yaml since it was started",
        repair: "live",
      },
    ]);
    const marked = drift(`${wanted}chat-template: "sesame"\n`, true, ["engine.chatTemplate"]);
    expect(JSON.stringify(marked)).not.toContain("sesame");
  });

  it.each([
    [null, "serve.yaml is gone"],
    ["- a\n", "serve.yaml was edited and cannot be read"],
    ["a: [", "serve.yaml was edited and cannot be read"],
    [`# mine\n${wanted}`, "serve.yaml was edited; it says the same"],
  ])("%j is told at configHash", (found, words) => {
    expect(drift(found)).toEqual([{ path: ["configHash"], found: words, words, repair: "live" }]);
  });
});
