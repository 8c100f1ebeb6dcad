import { describe, expect, it } from "vitest";
import type { ErrorFinding, Finding } from "../../../provider/src/core/finding";
import { refusal } from "../../../provider/src/core/preflight";

const NAME = 'server "kimi" on gpu1';
const port: ErrorFinding = {
  severity: "error",
  code: "PORT_IN_USE",
  summary: "port 8000 is taken by process 77 of bob: nginx",
  path: "listen.port",
  change: "listen.port   (or stop what holds it)",
};
const gpus: ErrorFinding = {
  severity: "error",
  code: "GPUS_NOT_FREE",
  summary: "1 of 2 GPUs are free, need 2",
  evidence: "GPU is lost",
  path: "gpus",
  retryable: true,
};
const flag: ErrorFinding = {
  severity: "error",
  code: "FLAG_UNKNOWN",
  summary: "vLLM 0.32.0 does not know --x",
  change: "x",
  path: "x",
};
const remark: Finding = { severity: "warning", code: "GPUS_NOT_FREE", summary: "may be so" };

describe("a refusal", () => {
  it("is none where nothing is an error", () => {
    expect(refusal(NAME, [remark])).toBeNull();
  });

  it("of one thing is that thing in one sentence", () => {
    const { code, message, details } = refusal(NAME, [remark, port]) ?? {};
    expect([code, details?.path, details?.retryable]).toEqual(["PORT_IN_USE", "listen.port", false]);
    expect(message).toBe(
      `Cannot start ${NAME}: port 8000 is taken by process 77 of bob: nginx\n  change: listen.port   (or stop what holds it)`,
    );
  });

  it("of several things lists each with its path, what was found and what to change, under the code of the first", () => {
    const { code, message, details } = refusal(NAME, [port, remark, gpus, flag]) ?? {};
    expect(code).toBe("PORT_IN_USE");
    expect(message).toBe(
      [
        `Cannot start ${NAME}: 3 things stand in the way`,
        "  1. listen.port: port 8000 is taken by process 77 of bob: nginx",
        "     change: listen.port   (or stop what holds it)",
        "  2. gpus: 1 of 2 GPUs are free, need 2",
        "     proof:  GPU is lost",
        "  3. vLLM 0.32.0 does not know --x",
      ].join("\n"),
    );
    expect(details?.problems?.map((problem) => problem.code)).toEqual([
      "PORT_IN_USE",
      "GPUS_NOT_FREE",
      "FLAG_UNKNOWN",
    ]);
  });

  it("can be tried again only where each of its reasons can go by itself", () => {
    expect(refusal(NAME, [gpus])?.details.retryable).toBe(true);
    expect(refusal(NAME, [gpus, port])?.details.retryable).toBe(false);
  });
});
