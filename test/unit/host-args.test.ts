import type { types } from "@pulumi/command";
import { describe, expect, expectTypeOf, it } from "vitest";
import { parseInputs } from "../../provider/src/core/parse-inputs";
import type { HostArgs } from "../../provider/src/pulumi/host-args";

type ConnectionArgs = types.input.remote.ConnectionArgs;

describe("host", () => {
  it("takes the connection object of @pulumi/command as it is: one object serves both", () => {
    expectTypeOf<Required<ConnectionArgs>>().toExtend<HostArgs>();
  });

  it("takes @pulumi/command's own words for no limit", () => {
    const connection = { host: "gpu1", dialErrorLimit: -1, perDialTimeout: 0 } satisfies ConnectionArgs;
    const parsed = parseInputs({ host: connection, model: { path: "/m" } });
    expect(parsed.ok && parsed.spec.host).toMatchObject({ dialErrorLimit: -1, perDialTimeoutSeconds: 0 });
  });
});
