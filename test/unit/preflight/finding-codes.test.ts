import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ERROR_CODES } from "../../../provider/src/core/errors";
import { FINDINGS } from "../../../provider/src/core/finding-codes";

const CORE = join(import.meta.dirname, "../../../provider/src/core");
const rows = Object.entries(FINDINGS);

describe("what is looked at", () => {
  it("ends an operation under a code that operations fail with", () => {
    const errors = rows.filter(([, { severities }]) => severities.some((each) => each === "error"));
    const codes: readonly string[] = ERROR_CODES;
    expect(errors.length).toBeGreaterThan(8);
    expect(errors.map(([code]) => code).filter((code) => !codes.includes(code))).toEqual([]);
  });

  it("is all that the checks tell of, and no more", () => {
    const files = ["preflight", "compatibility"].flatMap((folder) =>
      readdirSync(join(CORE, folder)).map((name) => join(CORE, folder, name)),
    );
    const texts = [...files, join(CORE, "desired-warnings.ts")].map((file) => readFileSync(file, "utf8"));
    const told = texts.flatMap((text) =>
      [...text.matchAll(/(?:code: |"[a-z-]+": |warning\(\s*)"([A-Z_]+)"/g)].map((match) => match[1]),
    );
    expect([...new Set(told)].sort()).toEqual(rows.map(([code]) => code).sort());
  });
});
