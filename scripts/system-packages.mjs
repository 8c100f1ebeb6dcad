import { existsSync } from "node:fs";
import { capture, lastLines, say } from "./processes.mjs";

/**
 * Installs Debian packages when we are root on Debian or Ubuntu; else one error that says what to do.
 * @param {readonly string[]} packages
 * @param {string} why what cannot be done without them
 * @returns {Promise<void>}
 */
export async function installSystemPackages(packages, why) {
  const command = `apt-get install -y --no-install-recommends ${packages.join(" ")}`;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    throw new Error(
      `Cannot ${why}: ${packages.join(", ")} not installed. On Debian or Ubuntu: sudo ${command}`,
    );
  }
  say(`installing ${packages.join(", ")} with apt-get`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const update = await capture("apt-get", ["update"], { env, timeoutSeconds: 300 });
  const [program = "", ...args] = command.split(" ");
  const install = await capture(program, args, { env, timeoutSeconds: 600 });
  if (install.code !== 0) {
    const hint = update.code === 0 ? "" : `\napt-get update:\n${lastLines(update.stderr)}`;
    throw new Error(`Cannot ${why}: \`${command}\` failed:\n${lastLines(install.stderr)}${hint}`);
  }
}

/**
 * Debian's python3 comes without what makes virtual environments.
 * @param {string} why what cannot be done without them
 * @returns {Promise<void>}
 */
export async function ensurePythonEnvironments(why) {
  if ((await capture("python3", ["-c", "import ensurepip, venv"])).code === 0) return;
  await installSystemPackages(["python3", "python3-venv"], why);
}
