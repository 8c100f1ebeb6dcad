import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Throttle } from "../../provider/src/pulumi/throttle";

let sent: string[];
let throttle: Throttle;

beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  throttle = new Throttle(250, (key, text) => sent.push(`${key}: ${text}`));
});

afterEach(() => {
  vi.useRealTimers();
});

/** Two texts a second, as a download tells how far it is. */
function downloadFor(seconds: number): void {
  for (let second = 0; second < seconds; second += 0.5) {
    throttle.push(
      "kimi",
      `downloading ${String(second)}/${String(seconds)} GB, ${leftText(seconds - second)} left`,
    );
    vi.advanceTimersByTime(500);
  }
}

function leftText(seconds: number): string {
  return seconds < 90 ? `${String(seconds)} s` : `${String(Math.round(seconds / 60))} min`;
}

test.each([
  { seconds: 5, lines: 10 },
  { seconds: 60, lines: 36 },
  { seconds: 600, lines: 76 },
  { seconds: 3600, lines: 276 },
])("a download of $seconds s is at most $lines lines", ({ seconds, lines }) => {
  downloadFor(seconds);
  expect(sent.length).toBeLessThanOrEqual(lines);
  expect(sent.length).toBeGreaterThan(lines * 0.8);
});

test("what is told with other words is told at once, and numbers begin anew", () => {
  downloadFor(600);
  sent = [];
  throttle.push("kimi", "starting vLLM");
  vi.advanceTimersByTime(250);
  throttle.push("kimi", "loading weights 0 % (0/163 shards)");
  vi.advanceTimersByTime(250);
  throttle.push("kimi", "loading weights 1 % (2/163 shards)");
  vi.advanceTimersByTime(250);
  expect(sent).toEqual([
    "kimi: starting vLLM",
    "kimi: loading weights 0 % (0/163 shards)",
    "kimi: loading weights 1 % (2/163 shards)",
  ]);
});

test("the last one is told within 15 s however long it goes on, and a flush tells it at once", () => {
  downloadFor(3600);
  vi.advanceTimersByTime(15_000);
  expect(sent.at(-1)).toBe("kimi: downloading 3599.5/3600 GB, 0.5 s left");
  throttle.push("kimi", "downloading 3600/3600 GB, 0 s left");
  throttle.push("kimi", "downloading 3601/3600 GB, 0 s left");
  throttle.flush("kimi");
  expect(sent.at(-1)).toBe("kimi: downloading 3601/3600 GB, 0 s left");
});
