import fc from "fast-check";
import { expect, test } from "vitest";
import { AnchorIndex } from "../../../provider/src/core/diagnose/anchors";
import { LineFinder } from "../../../provider/src/core/diagnose/line-finder";

interface Found {
  readonly lineNumber: number;
  readonly text: string;
  readonly ids: readonly number[];
  readonly before: string;
}

const ANCHORS = ["error", "terror", "rors", "none", ""];

/** What is found in a log that comes in these pieces, and its last line. */
function find(pieces: readonly Uint8Array[]): {
  readonly found: readonly Found[];
  readonly last: string | null;
} {
  const found: Found[] = [];
  let last: string | null = null;
  const finder = new LineFinder(new AnchorIndex(ANCHORS), (line, ids) => {
    const text = finder.textOf(line);
    found.push({
      lineNumber: line.lineNumber,
      text,
      ids: [...ids].sort(),
      before: finder.before(line),
    });
  });
  const noteLast = (): void => {
    if (finder.lastLine !== null) last = finder.textOf(finder.lastLine);
  };
  for (const piece of pieces) {
    finder.feed(piece);
    noteLast();
  }
  finder.end();
  noteLast();
  return { found, last };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textsOf = (log: string): unknown =>
  find([bytes(log)]).found.map(({ lineNumber, text }) => [lineNumber, text]);

test("every text of a line is found, also inside others and across colour codes", () => {
  expect(find([bytes("nothing\nmany ter\u001b[31mrors, here\n\nno\nnone\n")])).toEqual({
    found: [
      { lineNumber: 2, text: "many ter\u001b[31mrors, here", ids: [0, 1, 2], before: "nothing\n" },
      { lineNumber: 5, text: "none", ids: [3], before: "nothing\nmany ter\u001b[31mrors, here\n\nno\n" },
    ],
    last: "none",
  });
});

test("each state of a progress bar is a line of its own with the number of the line it is in", () => {
  expect(textsOf("a none\rb none\r\nc none\r")).toEqual([
    [1, "a none"],
    [1, "b none\r"],
    [2, "c none"],
  ]);
});

test("a colour code that never ends goes no further than its line", () => {
  expect(textsOf("x \u001b[31\nnone\n\u001b\rnone")).toEqual([
    [2, "none"],
    [3, "none"],
  ]);
});

test("empty lines are no last line, with CRLF too", () => {
  expect(find([bytes("the last\r\n\r\n\r\n")]).last).toBe("the last\r");
  expect(find([bytes("")]).last).toBeNull();
});

test("a thousand characters before a line can be seen, and no more, whatever they are written with", () => {
  const before = "€".repeat(1200);
  expect(find([bytes(`${before}\nnone`)]).found[0]?.before).toBe(`${before.slice(-999)}\n`);
});

test("a line without an end is taken apart between characters, all with its number, and nothing of it is kept", () => {
  const filling = "é€😀".repeat(20_000);
  const { found } = find([bytes(`x\nnone ${filling} none ${filling} none`)]);
  expect(found.map(({ lineNumber, ids }) => [lineNumber, ids])).toEqual([
    [2, [3]],
    [2, [3]],
    [2, [3]],
  ]);
  expect(found.filter(({ text }) => text.length > 64 * 1024 || text.includes("\ufffd"))).toEqual([]);
});

test("a log cut anywhere is the same log", () => {
  const part = fc.constantFrom(
    ...[
      "none",
      "error",
      "ter",
      "rors",
      "\n",
      "\r",
      "\r\n",
      "\u001b[1;31m",
      "\u001b",
      "[0m",
      "é",
      "€",
      "😀",
      " ",
      "\u0000",
      "x",
    ],
  );
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 60 }),
      fc.array(fc.nat(200), { maxLength: 12 }),
      (parts, cuts) => {
        const whole = bytes(parts.join(""));
        const places = [0, ...[...cuts].sort((one, other) => one - other), whole.length];
        const pieces = places.slice(1).map((place, index) => whole.subarray(places[index], place));
        expect(find(pieces)).toEqual(find([whole]));
      },
    ),
    { numRuns: 2000 },
  );
});
