import { describe, expect, it } from "vitest";
import { describeDiff, diffInputs } from "../../provider/src/core/diff";
import { UNKNOWN_VALUE } from "../../provider/src/core/input-unknowns";

const base = { host: "gpu1", model: { path: "/models/kimi" } };
const sameHost = { oldHost: "gpu1:22", newHost: "gpu1:22" };
const ready = { lastStartSeconds: 312, status: "ready" };

/** The manager a server has is an output: a wish for the same one moves nothing. */
describe("a changed service.manager", () => {
  it.each([
    ["systemd", "auto", "process", "restart"],
    ["process", "auto", "process", "no restart"],
    ["process", "systemd", "auto", "no restart"],
    [undefined, "auto", "process", "no restart"],
    [undefined, "auto", "systemd", "restart"],
  ])("of a server that has %s, from %s to %s: %s", (manager, from, to, effect) => {
    const olds = { ...(manager === undefined ? {} : { manager }), service: { manager: from } };
    const [line] = describeDiff(
      diffInputs({ ...base, ...olds }, { ...base, service: { manager: to } }, sameHost),
      ready,
    );
    expect(line?.replace(/;.*/, "")).toBe(`${effect}: service.manager ${from} -> ${to}`);
  });

  it("that is not known yet may mean a restart, the rest of service does not", () => {
    const service = { manager: UNKNOWN_VALUE, startOnBoot: UNKNOWN_VALUE, logs: { keep: 3 } };
    const diff = diffInputs(base, { ...base, service }, sameHost);
    expect(describeDiff(diff, ready)).toEqual([
      "no restart: service.logs.keep 5 -> 3",
      "restart possible: service.manager not known yet",
      "no restart: service.startOnBoot not known yet",
    ]);
  });
});
