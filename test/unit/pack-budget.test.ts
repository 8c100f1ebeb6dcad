import { expect, test } from "vitest";
import { DEPENDENCIES, MOST, overBudget, PEER_DEPENDENCIES } from "../../scripts/pack-budget.mjs";

const manifest = { dependencies: DEPENDENCIES, peerDependencies: PEER_DEPENDENCIES };
const packed = { unpackedSize: MOST.unpackedBytes, entryCount: MOST.files };

test("a package within the budget is none of its business", () => {
  expect(overBudget(packed, manifest)).toEqual([]);
});

test("what grew is told, all at once", () => {
  const grown = { unpackedSize: MOST.unpackedBytes + 1, entryCount: MOST.files + 1 };
  const { zod, ...others } = DEPENDENCIES;
  expect(zod).toBeDefined();
  const other = { dependencies: { ...others, lodash: "^4" }, optionalDependencies: { fsevents: "^2" } };
  expect(overBudget(grown, other)).toEqual([
    `unpacked ${String(MOST.unpackedBytes + 1)} bytes, at most ${String(MOST.unpackedBytes)}`,
    `${String(MOST.files + 1)} files, at most ${String(MOST.files)}`,
    "dependencies has lodash, which is not in the table",
    "dependencies has no zod, which is in the table",
    "peerDependencies has no @pulumi/pulumi, which is in the table",
    "peerDependencies has no @pulumi/command, which is in the table",
    "optionalDependencies has fsevents, which is not in the table",
  ]);
});
