import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { FINDINGS } from "../../../provider/src/core/finding-codes";

it("docs/preflight.md lists everything that is looked at, in these words and this order", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../docs/preflight.md"), "utf8");
  const rows = [...text.matchAll(/^\| `([A-Z_]+)` *\| (.+?) *\| (.+?) *\| (.+?) *\|$/gm)];
  expect(rows.map((row) => row.slice(1))).toEqual(
    Object.entries(FINDINGS).map(([code, { severities, told, source }]) => [
      code,
      severities.join(", "),
      told,
      source,
    ]),
  );
});
