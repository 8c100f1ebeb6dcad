import { describe, expect, it } from "vitest";
import { StartLog } from "../../provider/src/start-log";

const numbered = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `line ${String(from + index)}`);

describe("StartLog", () => {
  it("keeps a log as it came", () => {
    const log = new StartLog();
    log.add(1, ["a", "b"]);
    log.add(3, ["c"]);
    expect(log.text()).toBe("a\nb\nc");
  });

  it("begins anew when a new generation begins", () => {
    const log = new StartLog();
    log.add(1, ["old"]);
    log.add(1, ["new"]);
    expect(log.text()).toBe("new");
  });

  it("knows what the host dropped by the numbers that leap", () => {
    const log = new StartLog();
    log.add(1, ["a", "b"]);
    log.add(5, ["e"]);
    expect(log.text()).toBe("a\nb\n\n\ne");
    log.add(6, ["f"]);
    log.add(9, ["i"]);
    expect(log.text()).toBe("a\nb\n\n\n\n\n\n\ni");
    log.add(1, ["new"]);
    log.add(2, ["start"]);
    expect(log.text()).toBe("new\nstart");
  });

  it("drops the middle of an endless log and keeps the line numbers of what stays", () => {
    const log = new StartLog();
    for (let first = 1; first <= 300_000; first += 10_000) log.add(first, numbered(first, 10_000));
    const lines = log.text().split("\n");
    expect(lines).toHaveLength(300_000);
    expect(lines[0]).toBe("line 1");
    expect(lines[39_999]).toBe("line 40000");
    expect(lines[150_000]).toBe("");
    expect(lines[299_999]).toBe("line 300000");
    expect(lines[260_000]).toBe("line 260001");
  });
});
