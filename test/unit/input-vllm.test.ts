import { describe, expect, it } from "vitest";
import { parseInputs } from "../../provider/src/core/parse-inputs";
import { environment } from "../support/host-facts";

function vllm(given: unknown): unknown {
  const result = parseInputs({ host: "gpu1", model: { path: "/m" }, vllm: given });
  return result.ok ? result.spec.vllm : result.problems.map(({ message }) => message);
}

describe("vllm", () => {
  it.each([
    [{}, null],
    [undefined, null],
    [{ executable: null, version: null }, null],
    [{ executable: "~/v/bin/vllm" }, "~/v/bin/vllm"],
  ])("%j is one that is there", (given, executable) => {
    expect(vllm(given)).toEqual({ kind: "executable", executable });
  });

  it("is an environment of its own as soon as anything of one is given", () => {
    expect(vllm({ version: "0.33.0" })).toEqual(environment());
    expect(vllm({ torchBackend: "cpu" })).toEqual(environment({ version: null, torchBackend: "cpu" }));
    const whole = {
      version: "0.33.0rc1+cu129",
      packages: ["flashinfer-python==0.4.1", "lmcache"],
      indexUrl: "https://index.example/simple",
      extraIndexUrls: ["file:///srv/wheels"],
      python: "3.12",
      torchBackend: "cu129",
    };
    expect(vllm(whole)).toEqual(environment(whole));
  });

  it("is either there or installed", () => {
    expect(vllm({ executable: "/v", version: "0.33.0", python: "3.12" })).toEqual([
      "vllm: found an object, need either executable or version, here executable, version, python",
    ]);
  });

  it("tells all that is wrong with it at once", () => {
    const given = {
      version: "v0.33.0",
      packages: ["--index-url=x", "a\nb"],
      indexUrl: "index.example",
      extraIndexUrls: "https://index.example",
      python: "python3.12",
      torchBackend: "CU128",
      torchbackend: 1,
    };
    expect(vllm(given)).toEqual([
      'vllm.version: found "v0.33.0", need one exact version such as "0.33.0", here "0.33.0"',
      'vllm.packages[0]: found "--index-url=x", need a requirement such as "flashinfer-python==0.4.1"',
      'vllm.packages[1]: found "a\\nb", need a requirement such as "flashinfer-python==0.4.1"',
      'vllm.indexUrl: found "index.example", need address of a package index: https://, http:// or file://',
      'vllm.extraIndexUrls: found "https://index.example", need a list of addresses of package indexes',
      'vllm.python: found "python3.12", need a version of Python such as "3.12", or the absolute path of one on the host',
      'vllm.torchBackend: found "CU128", need which PyTorch: "auto", "cpu", "cu128", ...',
      "vllm.torchbackend: found 1, need vllm.torchBackend (the nearest known name)",
    ]);
  });

  it.each([">=0.33", "==0.33.*", "0.33.0 ", 0.33, "latest"])("takes no %j for a version", (version) => {
    const [message] = vllm({ version }) as readonly string[];
    expect(message).toMatch(/^vllm\.version: found .*, need one exact version such as "0\.33\.0"/);
  });

  it.each([
    ["indexUrl", { indexUrl: "https://ann:hunter2@" }],
    ["extraIndexUrls", { extraIndexUrls: "https://hunter2@index.example" }],
    ["extraIndexUrls", { extraIndexUrls: ["https://ann:hunter2@index example"] }],
    ["packages", { packages: ["-r https://ann:hunter2@index.example/r.txt"] }],
    ["packages", { packages: [1, "vllm @ https://hunter2@x/y.whl"], version: 1 }],
  ])("never shows credentials of a URL that is wrong, at %s", (_name, given) => {
    expect(JSON.stringify(vllm(given))).not.toContain("hunter2");
  });
});
