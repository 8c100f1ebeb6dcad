import { describe, expect, it } from "vitest";
import { crashLoopWords, lastCrashWords, withoutSecrets } from "../../provider/src/core/crash-loop";
import type { Desired } from "../../provider/src/core/desired";
import type { CrashSeen, Observed } from "../../provider/src/core/observed";
import { launch, observed, runningServer, spec } from "../support/host-facts";

const desired: Desired = { launch, overlay: null, warnings: [], kvCacheAuto: null };
const seen = (...crashes: CrashSeen[]): Observed =>
  observed({ server: runningServer(desired, { status: "crash-looping", crashes }) });

const FP8 = "NotImplementedError: TritonMLA V1 with FP8 KV cache not yet supported";
const lines = [
  "INFO 12-01 11:00:00 [api_server.py:1] vLLM",
  FP8,
  "RuntimeError: Engine core initialization failed.",
];
const crash = (
  generation: number,
  log: CrashSeen["log"],
  parts: Partial<CrashSeen["exit"]> = {},
): CrashSeen => ({
  exit: { generation, code: 1, signal: null, at: `2026-12-01T11:0${String(generation)}:11.250Z`, ...parts },
  log,
});

describe("crashLoopWords", () => {
  it("tells the first and the last failure, each with its cause, its proof and what to change", () => {
    const words = crashLoopWords(
      seen(crash(3, [{ first: 1, lines }]), crash(8, [{ first: 1, lines: [] }], { code: null, signal: 9 })),
    );
    expect(words.split("; ", 2)).toEqual([
      "crash-looping: given up after 5 automatic restarts",
      expect.stringMatching(
        /^first failure \(start 3, exit code 1, 11:03:11Z\): .+ - proof: NotImplementedError: .+ \(log line 2\), change: kvCacheDtype/,
      ),
    ]);
    expect(words).toMatch(
      /; last failure \(start 8, signal 9, 11:08:11Z\): a process was killed without a word/,
    );
  });

  it("says once what was the same each time", () => {
    const log = [{ first: 1, lines }];
    expect(crashLoopWords(seen(crash(1, log), crash(2, log)))).toMatch(
      /^crash-looping: given up after 1 automatic restart; first failure .*; last failure \(start 2, exit code 1, 11:02:11Z\): the same$/,
    );
  });

  it("counts the lines of what is only told in parts as the log has them", () => {
    const log = [
      { first: 1, lines: ["INFO begin"] },
      { first: 90_001, lines },
    ];
    expect(crashLoopWords(seen(crash(1, log), crash(2, null)))).toContain("(log line 90002)");
  });

  it("says that a log is gone, and that one tells of no failure", () => {
    const up = [
      "INFO:     Application startup complete.",
      "INFO:     Shutting down",
      "INFO:     Finished server process [1]",
    ];
    expect(crashLoopWords(seen(crash(1, null), crash(2, [{ first: 1, lines: up }], { code: 0 })))).toBe(
      "crash-looping: given up after 1 automatic restart; " +
        "first failure (start 1, exit code 1, 11:01:11Z): its log is not there any more; " +
        "last failure (start 2, exit code 0, 11:02:11Z): its log tells of no failure",
    );
  });
});

describe("lastCrashWords", () => {
  it("tells the cause of the last failure, or nothing", () => {
    expect(lastCrashWords(seen(crash(1, null), crash(2, [{ first: 1, lines }])))).toContain(
      `: ${FP8} (log line 2)`,
    );
    expect(lastCrashWords(seen())).toBe("");
  });
});

describe("withoutSecrets", () => {
  it("takes the secrets of the declaration, and what the program marks, out of the logs", () => {
    const log = [{ first: 1, lines: ["key sesame-1", "mark hush-hush", "token opensesame"] }];
    const server = runningServer(desired, { crashes: [crash(1, log)] });
    const declared = spec({ apiKey: "sesame-1", environment: { HF_TOKEN: "opensesame" } });
    expect(withoutSecrets(server, declared, ["hush-hush"]).crashes[0]?.log).toEqual([
      { first: 1, lines: ["key [secret]", "mark [secret]", "token [secret]"] },
    ]);
  });
});
