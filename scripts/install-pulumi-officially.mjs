// node install-pulumi-officially.mjs FOLDER: the official installer, through the Automation API.
import { PulumiCommand } from "@pulumi/pulumi/automation/index.js";
import { failWith } from "./processes.mjs";

const ADDRESS = "https://get.pulumi.com/install.sh";

const root = process.argv[2];
if (root === undefined) failWith("Cannot install: need the target folder");
// The API tries for a long time when nothing answers; asked first, a machine without a network knows at once.
await fetch(ADDRESS, { method: "HEAD", signal: AbortSignal.timeout(8000) }).catch(
  (/** @type {unknown} */ error) => {
    // fetch hides what happened behind "fetch failed".
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    failWith(`${ADDRESS} does not answer (${cause instanceof Error ? cause.message : String(cause)})`);
  },
);
// Without a version it takes that of the SDK, which is pinned to the CLI's.
await PulumiCommand.install({ root }).catch(failWith);
