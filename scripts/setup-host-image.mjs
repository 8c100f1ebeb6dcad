import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { removeLeftovers, withLock } from "./lock.mjs";
import { cacheFolder } from "./places.mjs";
import { capture, failWith, lastLines, say } from "./processes.mjs";
import { installSystemPackages } from "./system-packages.mjs";

/** Debian 12 with what a GPU machine has beside its GPUs: sshd, systemd with user managers, Python, sudo. */
const SUITE = "bookworm";
const PACKAGES = [
  "openssh-server",
  "python3-minimal",
  "python3",
  "systemd",
  "systemd-sysv",
  "libpam-systemd",
  "dbus",
  "dbus-user-session",
  "iproute2",
  "procps",
  "sudo",
];

/**
 * The root folder of a machine that boots under systemd-nspawn, made once and kept in the cache. Nothing writes to it: each host
 * gets a writable layer of its own.
 * @returns {Promise<string>}
 */
export async function ensureHostImage() {
  if (process.getuid?.() !== 0) throw new Error("Cannot make systemd hosts: this needs root");
  const missing = TOOLS.filter(({ path }) => !existsSync(path)).map(({ of }) => of);
  if (missing.length > 0) await installSystemPackages([...new Set(missing)], "make systemd hosts for the tests");
  const key = createHash("sha256").update([SUITE, ...PACKAGES].join()).digest("hex").slice(0, 12);
  const folder = join(cacheFolder(), `host-image-${key}`, "root");
  if (existsSync(folder)) return folder;
  await withLock(`${dirname(folder)}.lock`, async () => {
    if (existsSync(folder)) return;
    say(`making the image of the test hosts (Debian ${SUITE}); about a minute, once`);
    const aside = `${folder}.new`;
    await removeLeftovers(aside).catch(() => undefined);
    const args = ["--variant=minbase", `--include=${PACKAGES.join()}`, SUITE, aside];
    const result = await capture("debootstrap", args, { timeoutSeconds: 1200 });
    if (result.code !== 0)
      throw new Error(`Cannot make the image of the test hosts: debootstrap failed:\n${lastLines(result.stdout + result.stderr)}`);
    // Packages that were fetched, and the identity of the machine: each host makes its own.
    for (const path of ["var/cache/apt/archives", "etc/machine-id", "var/lib/dbus/machine-id"])
      await rm(join(aside, path), { recursive: true, force: true });
    await rename(aside, folder);
  });
  return folder;
}

/** What is run, and the Debian package it comes from. */
const TOOLS = [
  { path: "/usr/sbin/debootstrap", of: "debootstrap" },
  { path: "/usr/bin/systemd-nspawn", of: "systemd-container" },
  { path: "/usr/sbin/ip", of: "iproute2" },
];

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log(await ensureHostImage().catch(failWith));
}
