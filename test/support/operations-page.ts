import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryFolder } from "../../scripts/places.mjs";
import { blocksIn } from "./documents.ts";

export const OPERATIONS_PAGE = "docs/operations.md";

/** One block of the page that is typed into a shell. */
export interface OperationsBlock {
  /** The nearest heading above it. */
  readonly heading: string;
  readonly text: string;
}

/** In the order of the page. */
export function operationsBlocks(): readonly OperationsBlock[] {
  const page = readFileSync(join(repositoryFolder, OPERATIONS_PAGE), "utf8");
  return page.split(/^#+ /m).flatMap((section) => {
    const heading = section.split("\n")[0] ?? "";
    return blocksIn(section, "sh").map((text) => ({ heading, text }));
  });
}
