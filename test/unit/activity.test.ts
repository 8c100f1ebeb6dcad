import { describe, expect, it } from "vitest";
import { activityWords, type Activity } from "../../provider/src/core/activity";

const NOTHING: Activity = {
  quietSeconds: 180,
  stillSeconds: 0,
  spinningSeconds: 0,
  cpuCores: 0,
  readBytesPerSecond: 0,
  writeBytesPerSecond: 0,
};

describe("activityWords", () => {
  it.each<[Partial<Activity>, string]>([
    [{ readBytesPerSecond: 1.2e9 }, "reading 1.2 GB/s"],
    [
      { readBytesPerSecond: 3e6, writeBytesPerSecond: 2e6, cpuCores: 9.96 },
      "reading 3.0 MB/s, writing 2.0 MB/s, 10 cores busy",
    ],
    [{ cpuCores: 1.04, readBytesPerSecond: 1000 }, "1 core busy"],
    [{ readBytesPerSecond: null, writeBytesPerSecond: null, cpuCores: 3.26 }, "3.3 cores busy"],
    [{ spinningSeconds: 240, cpuCores: 8 }, "8.0 cores busy, nothing read or written for 4 min"],
    [{ spinningSeconds: 240 }, "processes come and go, nothing read or written for 4 min"],
    [{ stillSeconds: 130, cpuCores: 0.02 }, "no sign of life for 2 min"],
    [{}, "at work"],
  ])("tells of %j what the start does", (parts, words) => {
    expect(activityWords({ ...NOTHING, ...parts })).toBe(`no new line for 3 min, ${words}`);
  });
});
