import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { failWith } from "./processes.mjs";
import { installSystemPackages } from "./system-packages.mjs";

const CANDIDATES = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"];

/**
 * The OpenSSH server the tests and the demo connect to, on loopback, with a configuration of their own.
 * @returns {Promise<string>} its path
 */
export async function ensureSshd() {
  const find = () => CANDIDATES.find((path) => existsSync(path));
  let path = find();
  if (path === undefined) {
    await installSystemPackages(["openssh-server", "openssh-client"], "start an SSH server for the tests");
    path = find();
  }
  if (path === undefined) throw new Error(`Cannot find sshd: looked for ${CANDIDATES.join(", ")}`);
  // Run as root, sshd wants its privilege separation folder, which only the service's own start would make.
  if (process.getuid?.() === 0) await mkdir("/run/sshd", { recursive: true, mode: 0o755 });
  return path;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log(await ensureSshd().catch(failWith));
}
