import { describe, expect, it } from "vitest";
import { applyLimit } from "../../provider/src/core/apply-limit";
import type { Observed } from "../../provider/src/core/observed";
import { preflight, refusal } from "../../provider/src/core/preflight";
import { allParts, missingParts, provision } from "../../provider/src/core/provision";
import { environment, gpu, hubModel, observed, owner, spec } from "../support/host-facts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const ours = spec({
  model: hubModel({ token: "hf", revision: "main" }),
  vllm: environment({ packages: ["lmcache"], indexUrl: "https://u:p@index" }),
  engine: { loadFormat: "safetensors" },
});
const nothing: Partial<Observed> = {
  executable: { found: false, reason: "it is not installed yet" },
  checkpoint: { found: false, path: "nvidia/kimi@main", reason: "it is not downloaded yet" },
};

describe("what a start is made of", () => {
  it("is said whole, with the credentials that it takes", () => {
    expect(provision(ours, owner.urn, COMMIT)).toEqual({
      install: {
        kind: "install",
        environment: {
          name: expect.stringMatching(/^[0-9a-f]{16}$/),
          version: "0.33.0",
          packages: ["lmcache"],
          indexUrl: "https://u:p@index",
          extraIndexUrls: [],
          python: null,
          torchBackend: null,
        },
        timeoutSeconds: 3600,
      },
      fetch: {
        kind: "fetch",
        executable: expect.stringMatching(/^environments\/[0-9a-f]{16}$/),
        checkpoint: {
          key: expect.stringMatching(/^[0-9a-f]{16}$/),
          repo: "nvidia/kimi",
          revision: "main",
          resolved: COMMIT,
          include: null,
          exclude: null,
          endpoint: null,
          cacheDir: null,
          token: "hf",
          verify: "headers",
          loadFormat: "safetensors",
          stallSeconds: 120,
        },
      },
    });
  });

  it("of what is there is a look at the folder alone", () => {
    const look = { key: null, path: "/models/kimi", verify: "headers", loadFormat: null };
    expect(allParts(provision(spec(), owner.urn, null))).toEqual([
      { kind: "fetch", executable: null, checkpoint: look },
    ]);
  });

  it.each([
    [{ configFormat: "mistral" }, "auto:mistral"],
    [{ configFormat: "mistral", loadFormat: "Auto" }, "auto:mistral"],
    [{ configFormat: "mistral", loadFormat: "safetensors" }, "safetensors"],
    [{ configFormat: "hf" }, null],
    [{ configFormat: "hf", loadFormat: "mistral" }, "mistral"],
  ])("chooses weights that go with the config: %j", (engine, loadFormat) => {
    const { fetch } = provision(spec({ model: hubModel({}), engine }), owner.urn, null);
    expect(fetch.checkpoint.loadFormat).toBe(loadFormat);
  });

  it("says beside which vllm the hub's client may stand", () => {
    const declared = spec({ vllm: { kind: "executable", executable: "/opt/vllm/bin/vllm" } });
    expect(provision(declared, owner.urn, null).fetch.executable).toBe("/opt/vllm/bin/vllm");
  });

  it("is brought there first where it is missing, each part by itself, and nothing that is the user's", () => {
    const missing = (declared: typeof ours, seen: Partial<Observed>): readonly string[] =>
      missingParts(provision(declared, owner.urn, null), observed(seen)).map(({ kind }) => kind);
    expect(missing(ours, nothing)).toEqual(["install", "fetch"]);
    expect(missing(ours, { executable: nothing.executable ?? null })).toEqual(["install"]);
    expect(missing(ours, { checkpoint: nothing.checkpoint ?? null })).toEqual(["fetch"]);
    expect(missing(ours, {})).toEqual([]);
    expect(missing(spec(), nothing)).toEqual([]);
  });
});

describe("before anything is there", () => {
  it("what is ours to bring there is no reason against a start, what is the user's is one", () => {
    expect(preflight(ours, observed(nothing))).toEqual([]);
    const codes = [spec({ model: ours.model }), spec({ vllm: ours.vllm })].map((declared) =>
      preflight(declared, observed(nothing)).map(({ code }) => code),
    );
    expect(codes).toEqual([["VLLM_NOT_FOUND"], ["CHECKPOINT_NOT_FOUND"]]);
  });

  it("ports and GPUs are looked at: nobody downloads for an hour to hear that they are taken", () => {
    const taken = { ...nothing, gpus: [gpu(0, { memoryUsedMib: 90_000 })] };
    expect(preflight(ours, observed(taken)).map(({ code }) => code)).toEqual(["GPUS_NOT_FREE"]);
    const cpu = { ...ours, vllm: environment({ torchBackend: "cpu" }) };
    expect(preflight(cpu, observed(taken))).toEqual([]);
  });

  it("a download without weights names the selection", () => {
    const checkpoint = { found: true, path: "/s", files: {}, weightFiles: 0, weightBytes: 0 } as const;
    expect(
      refusal("x", preflight(spec({ model: hubModel() }), observed({ checkpoint })))?.details,
    ).toMatchObject({
      code: "CHECKPOINT_NOT_FOUND",
      path: "model.repo",
      change: "model.include, or another model.repo   (one with weights that vLLM loads)",
    });
  });
});

it("an installation has its own time, a download as much as it likes", () => {
  const { install, fetch } = provision(ours, owner.urn, null);
  const start = 60 + 120 + 2 * 3600 + 60;
  expect(applyLimit([{ kind: "confirm", confirmed: true }], ours)).toBe(start);
  expect(install === null ? 0 : applyLimit([install], ours)).toBe(start + 3600 + 60);
  expect(applyLimit([fetch], ours)).toBe(604_800);
});
