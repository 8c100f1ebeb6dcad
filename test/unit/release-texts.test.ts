import { describe, expect, test } from "vitest";
import {
  checkVersion,
  notesOf,
  pendingVersion,
  releasedChangelog,
  withVersion,
} from "../../scripts/release-texts.mjs";

const CHANGELOG = `# Changelog

## [Unreleased]

### Added

- Something new.

## [0.1.0] - 2026-12-03

- The first one.
`;

describe("CHANGELOG.md", () => {
  test("what was unreleased stands under its version and day, and nothing is unreleased", () => {
    const released = releasedChangelog(CHANGELOG, "0.2.0", "2026-12-24");
    expect(released).toBe(
      CHANGELOG.replace("## [Unreleased]\n", "## [Unreleased]\n\n## [0.2.0] - 2026-12-24\n"),
    );
    expect(notesOf(released, "0.2.0")).toBe("### Added\n\n- Something new.");
    expect(() => releasedChangelog(released, "0.3.0", "2026-12-24")).toThrow(
      /^Cannot release 0.3.0: found nothing/,
    );
  });

  test("a version is released once", () => {
    expect(() => releasedChangelog(CHANGELOG, "0.1.0", "2026-12-24")).toThrow(
      "Cannot release 0.1.0: found it in CHANGELOG.md",
    );
  });

  test("a version without a day is not released", () => {
    expect(notesOf(CHANGELOG.replace(" - 2026-12-03", ""), "0.1.0")).toBeNull();
    expect(notesOf(CHANGELOG, "0x1.0")).toBeNull();
  });

  test("the version to try is the present one until it is released, then the next, then none", () => {
    expect(pendingVersion(CHANGELOG, "0.2.0")).toBe("0.2.0");
    expect(pendingVersion(CHANGELOG, "0.1.0")).toBe("0.1.1");
    expect(pendingVersion(CHANGELOG.replace("- Something new.", ""), "0.1.0")).toBeNull();
  });
});

test.each([
  ["0.1.0", "0.1.0"],
  ["0.1.1", "0.1.0"],
  ["0.10.0", "0.9.0"],
  ["1.0.0", "0.9.9"],
  ["1.0.0", "1.0.0-rc.1"],
  ["1.0.0-rc.2", "1.0.0-rc.1"],
])("%s may follow %s", (version, present) => {
  expect(() => {
    checkVersion(version, present);
  }).not.toThrow();
});

test.each([
  ["0.0.9", "0.1.0"],
  ["1.0.0-rc.1", "1.0.0"],
  ["v1.0.0", "0.1.0"],
  ["1.0", "0.1.0"],
])("%s may not follow %s", (version, present) => {
  expect(() => {
    checkVersion(version, present);
  }).toThrow(`Cannot release ${version}`);
});

test("only what names the package's version changes", () => {
  const text = `{ "name": "pulumi-vllm",
  "version": "0.1.0", "other": { "version": "0.1.0" }, "pulumi-vllm": "0.1.0", "zod": "0.1.0" } pulumi-vllm-0.1.0.tgz pulumi-vllm-0x1.0.tgz`;
  expect(withVersion(text, "0.1.0", "0.2.0")).toBe(`{ "name": "pulumi-vllm",
  "version": "0.2.0", "other": { "version": "0.1.0" }, "pulumi-vllm": "0.2.0", "zod": "0.1.0" } pulumi-vllm-0.2.0.tgz pulumi-vllm-0x1.0.tgz`);
});
