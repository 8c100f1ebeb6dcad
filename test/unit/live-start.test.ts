import { describe, expect, it } from "vitest";
import { LiveStart } from "../../provider/src/live-start";
import { spec } from "../support/host-facts";

const QUIET = {
  event: "quiet",
  activity: {
    quietSeconds: 180,
    stillSeconds: 0,
    spinningSeconds: 0,
    cpuCores: 0.4,
    readBytesPerSecond: 1.2e9,
    writeBytesPerSecond: 0,
  },
} as const;
const SHARDS = "Loading safetensors checkpoint shards:  43% Completed | 51/119 [01:00<02:00,  1.0it/s]";

/** What stood on the resource's line, newest last. */
function shown(): { readonly live: LiveStart; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const live = new LiveStart({
    progress: (text) => lines.push(text),
    info: () => undefined,
    warning: () => undefined,
    isReachable: () => Promise.resolve(true),
  });
  return { live, lines };
}

describe("a start that has printed nothing for a while", () => {
  it("shows how far it came and what it does", () => {
    const { live, lines } = shown();
    live.take({ event: "log", first: 1, lines: [SHARDS] });
    live.take(QUIET);
    expect(lines).toEqual([
      "loading weights 43 % (51/119 shards)",
      "loading weights 43 % (51/119 shards), no new line for 3 min, reading 1.2 GB/s, 0.4 cores busy",
    ]);
  });

  it("shows what it does also where its log has told nothing yet", () => {
    const { live, lines } = shown();
    live.take(QUIET);
    expect(lines).toEqual(["starting, no new line for 3 min, reading 1.2 GB/s, 0.4 cores busy"]);
  });

  it("that hangs is told with the phase it came to", () => {
    const { live } = shown();
    live.take({ event: "log", first: 1, lines: [SHARDS] });
    const failure = live.failure({
      wait: {
        outcome: "hung",
        silentSeconds: 900,
        isSpinning: false,
        lastLine: SHARDS,
        unanswered: null,
        processes: [],
      },
      server: 'server "kimi" on gpu1',
      host: spec().host,
      port: 8000,
      vllmVersion: null,
      logPath: null,
    });
    expect([failure.code, failure.details.summary]).toEqual([
      "START_HUNG",
      'Cannot start server "kimi" on gpu1: it hangs while "loading weights 43 % (51/119 shards)": no sign of life for 15 min, need progress',
    ]);
  });
});
