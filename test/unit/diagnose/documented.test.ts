import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CAUSE_FACTS } from "../../../provider/src/core/diagnose/cause-facts";
import { withCauses } from "../../../scripts/list-failures.mjs";

const document = readFileSync(join(import.meta.dirname, "../../../docs/failures.md"), "utf8");

test("docs/failures.md lists every cause as the table has it (npm run build, node scripts/list-failures.mjs)", () => {
  expect(document).toBe(withCauses(document, CAUSE_FACTS));
  expect(document).toContain("`KV_CACHE_NO_MEMORY`");
});
