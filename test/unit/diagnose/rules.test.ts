import { expect, test } from "vitest";
import { anchorOf } from "../../../provider/src/core/diagnose/anchors";
import { CAUSE_FACTS } from "../../../provider/src/core/diagnose/cause-facts";
import { FAILURE_CAUSES } from "../../../provider/src/core/diagnose/causes";
import { fatalPatterns } from "../../../provider/src/core/diagnose";
import { CONTEXT_PATTERNS, MARKS } from "../../../provider/src/core/diagnose/marks";
import { fill } from "../../../provider/src/core/diagnose/rule";
import { ALL_RULES } from "../../../provider/src/core/diagnose/rules";
import { RUNTIME_OOM_RULE } from "../../../provider/src/core/diagnose/rules/memory";

const rules = [...ALL_RULES, RUNTIME_OOM_RULE];

test("every cause of the closed list has a rule, but that nothing failed", () => {
  const ruled = new Set(rules.map((rule) => rule.cause));
  expect(FAILURE_CAUSES.filter((cause) => !ruled.has(cause))).toEqual(["NO_FAILURE"]);
  expect(Object.keys(CAUSE_FACTS).sort()).toEqual([...FAILURE_CAUSES].sort());
});

test("every pattern has a fixed text that is looked for first", () => {
  const patterns = [
    ...rules.flatMap((rule) => rule.signs.map((sign) => sign.pattern)),
    ...CONTEXT_PATTERNS,
    ...MARKS.map((mark) => mark.pattern),
  ];
  expect(patterns.filter((pattern) => anchorOf(pattern).length < 4 || pattern.flags !== "")).toEqual([]);
});

test("no pattern goes through a long word again from each of its letters, which takes seconds instead of none", () => {
  const word = "a".repeat(32 * 1024);
  const patterns = rules.flatMap((rule) => rule.signs.map((sign) => sign.pattern));
  const slow = [...patterns, ...CONTEXT_PATTERNS, ...MARKS.map((mark) => mark.pattern)].filter((pattern) => {
    const begin = performance.now();
    pattern.test(`${word}${anchorOf(pattern)}${word}`);
    pattern.test(`${anchorOf(pattern)}${word}`);
    return performance.now() - begin > 1000;
  });
  expect(slow).toEqual([]);
});

test("every change names one of the flags or variables of its cause, and every last template can always be filled", () => {
  const names = (text: string): readonly string[] =>
    text.match(/--[a-z][\w-]+|\b[A-Z][A-Z0-9]+_[A-Z0-9_]+\b/g) ?? [];
  const wrong = rules.filter((rule) => {
    const wanted = names(CAUSE_FACTS[rule.cause].change);
    const isNamed =
      wanted.length === 0 || rule.change.every((change) => wanted.some((name) => change.includes(name)));
    const isFillable = [rule.change, rule.summary].every(
      (templates) => !/\{\w+\}/.test(templates.at(-1) ?? "{x}"),
    );
    return !isNamed || !isFillable;
  });
  expect(wrong.map((rule) => rule.cause)).toEqual([]);
});

test("every sign has its source", () => {
  expect(rules.flatMap((rule) => rule.signs.filter((sign) => sign.source === ""))).toEqual([]);
});

test("fatal patterns are read alike by Python: no named groups, no look-behind, no flags", () => {
  for (const pattern of fatalPatterns()) {
    expect(() => new RegExp(pattern)).not.toThrow();
    expect(pattern).not.toMatch(/\(\?/);
  }
});

test.each([
  [/abc(?:def)?ghij/, "ghij"],
  [/ab+cdef?gh/, "cde"],
  [/a\.b\(c\)\d+xyz/, "a.b(c)"],
  [/[^\]abc]long text\s/, "long text"],
  [/x{2,3}yz "quoted"/, "quoted"],
  [/one|two/, ""],
])("the fixed text of %s is %j", (pattern, anchor) => {
  expect(anchorOf(pattern)).toBe(anchor);
});

test("the first template is taken whose values are all known", () => {
  expect(fill(["{a} of {b}", "{a}", "none"], { a: 1 })).toBe("1");
  expect(fill(["{a}", "none"], {})).toBe("none");
});
