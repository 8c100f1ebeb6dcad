import { chmod, cp } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { repositoryFolder } from "./places.mjs";

/** The CLI this is developed and tested with, and the oldest one that is accepted. */
export const PULUMI_VERSION = "3.276.0";

/**
 * The current Node language host is a Go module of its own that the module proxy does not serve. The last SDK release
 * that still contains it does the job: the protocol to the CLI is compatible, and the code that runs programs and
 * dynamic providers comes from the installed @pulumi/pulumi anyway. CLI 3.276.0 + this host + SDK 3.276.0 were run
 * together: preview, up, refresh, destroy, config, secrets, partial failures and `main:`.
 */
export const LANGUAGE_HOST_VERSION = "3.66.0";

export const LANGUAGE_HOST = "pulumi-language-nodejs";
/** A shell script that starts the provider of dynamic resources out of the program's own @pulumi/pulumi. */
export const DYNAMIC_PROVIDER = "pulumi-resource-pulumi-nodejs";

/**
 * Puts the dynamic provider's start script beside the CLI when it is not there (a build has only the Go programs).
 * @param {string} bin
 * @returns {Promise<void>}
 */
export async function addDynamicProvider(bin) {
  const target = join(bin, DYNAMIC_PROVIDER);
  if (existsSync(target)) return;
  await cp(join(repositoryFolder, "node_modules", "@pulumi", "pulumi", DYNAMIC_PROVIDER), target);
  await chmod(target, 0o755);
}
