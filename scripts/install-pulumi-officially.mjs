// node install-pulumi-officially.mjs FOLDER: the official installer, through the Automation API.
import { PulumiCommand } from "@pulumi/pulumi/automation/index.js";
import { SemVer } from "semver";
import { failWith } from "./processes.mjs";
import { PULUMI_VERSION } from "./pulumi-parts.mjs";

const ADDRESS = "https://get.pulumi.com/install.sh";

const root = process.argv[2];
if (root === undefined) failWith("Cannot install: need the target folder");
// The API tries for a long time when nothing answers; asked first, a machine without a network knows at once.
await fetch(ADDRESS, { method: "HEAD", signal: AbortSignal.timeout(8000) }).catch((/** @type {unknown} */ error) => {
  // fetch hides what happened behind "fetch failed".
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  failWith(`${ADDRESS} does not answer (${cause instanceof Error ? cause.message : String(cause)})`);
});
await PulumiCommand.install({ root, version: new SemVer(PULUMI_VERSION) }).catch(failWith);
