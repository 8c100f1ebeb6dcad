import { describe, expect, it } from "vitest";
import type { VllmEnvironment } from "../../provider/src/core/spec";
import { environmentName, executableWish, isCpuEnvironment } from "../../provider/src/core/vllm-source";
import { environment } from "../support/host-facts";

const name = (parts: Partial<VllmEnvironment> = {}): string => environmentName(environment(parts));

describe("the name of an environment", () => {
  it("is 16 hex digits, by which a host is asked for it", () => {
    expect(executableWish(environment())).toBe(`environments/${name()}`);
    expect(name()).toMatch(/^[0-9a-f]{16}$/);
    expect(executableWish({ kind: "executable", executable: "/v/bin/vllm" })).toBe("/v/bin/vllm");
    expect(executableWish({ kind: "executable", executable: null })).toBeNull();
  });

  it.each<Partial<VllmEnvironment>>([
    { version: "0.32.0" },
    { version: null },
    { packages: ["lmcache"] },
    { indexUrl: "https://index.example/simple" },
    { extraIndexUrls: ["https://index.example/simple"] },
    { python: "3.12" },
    { torchBackend: "cpu" },
  ])("is another one with %j", (parts) => {
    expect(name(parts)).not.toBe(name());
  });

  it("is the same in any order of packages, and whoever's credentials install it", () => {
    expect(name({ packages: ["a", "b"] })).toBe(name({ packages: ["b", "a"] }));
    const of = (who: string): string =>
      name({
        indexUrl: `https://${who}index/simple`,
        extraIndexUrls: [`https://${who}more`],
        packages: [`x @ https://${who}y`],
      });
    expect([of("ann:pw@"), of("token@")]).toEqual([of(""), of("")]);
  });
});

it("an environment for the CPU is known before it is there", () => {
  const cpu = [environment({ torchBackend: "cpu" }), environment({ version: "0.32.0+cpu" })];
  expect(cpu.map(isCpuEnvironment)).toEqual([true, true]);
  expect([environment(), { kind: "executable", executable: null } as const].map(isCpuEnvironment)).toEqual([
    false,
    false,
  ]);
});
