import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { removeLeftovers, withLock } from "./lock.mjs";
import { cacheFolder } from "./places.mjs";
import { capture, failWith, lastLines, say } from "./processes.mjs";
import { installSystemPackages } from "./system-packages.mjs";

/** What makes and boots machines, and the Debian package it comes from. */
const TOOLS = [
  { path: "/usr/sbin/debootstrap", of: "debootstrap" },
  { path: "/usr/share/keyrings/debian-archive-keyring.gpg", of: "debian-archive-keyring" },
  { path: "/usr/bin/systemd-nspawn", of: "systemd-container" },
  { path: "/usr/sbin/ip", of: "iproute2" },
  { path: "/usr/bin/ssh", of: "openssh-client" },
];

/** Debian 12 with what a GPU machine has beside its GPUs: sshd, systemd with user managers, Python, sudo. */
const SUITE = "bookworm";
const PACKAGES = [
  "openssh-server",
  "python3",
  "systemd",
  "systemd-sysv",
  "libpam-systemd",
  "dbus",
  "dbus-user-session",
  "iproute2",
  "procps",
  "sudo",
  "curl",
  // Of the CPU build of vLLM.
  "libnuma1",
];
/** What was only fetched, and what tells one machine from another: each host gets its own. */
const REMOVED = [
  "var/cache/apt/archives",
  "var/lib/apt/lists",
  "etc/machine-id",
  "var/lib/dbus/machine-id",
  ...["rsa", "ecdsa", "ed25519"].flatMap((type) =>
    ["", ".pub"].map((end) => `etc/ssh/ssh_host_${type}_key${end}`),
  ),
];

/**
 * The root folder of a machine that boots under systemd-nspawn, made once and kept in the cache. Nothing writes to it: each host
 * gets a writable layer of its own.
 * @returns {Promise<string>}
 */
export async function ensureHostImage() {
  if (process.getuid?.() !== 0)
    throw new Error(
      "Cannot make systemd hosts: this user is not root, need root (namespaces, mounts, a bridge)",
    );
  const missing = TOOLS.filter(({ path }) => !existsSync(path)).map(({ of }) => of);
  if (missing.length > 0) await installSystemPackages([...new Set(missing)], "make systemd hosts");
  const key = createHash("sha256")
    .update(JSON.stringify([SUITE, PACKAGES, REMOVED]))
    .digest("hex");
  const folder = join(cacheFolder(), `host-image-${key.slice(0, 12)}`, "root");
  if (existsSync(folder)) return folder;
  await withLock(`${dirname(folder)}.lock`, async () => {
    if (existsSync(folder)) return;
    say(`making the image of the test hosts (Debian ${SUITE}); about a minute, once`);
    const aside = `${folder}.new`;
    await removeLeftovers(aside).catch(() => undefined);
    // Mounts of its own: a debootstrap that is cut leaves /proc mounted in the folder.
    const words = [
      "--mount",
      "debootstrap",
      "--variant=minbase",
      `--include=${PACKAGES.join()}`,
      SUITE,
      aside,
    ];
    const result = await capture("unshare", words, { timeoutSeconds: 1200 });
    if (result.code !== 0) {
      const last = lastLines(result.stdout + result.stderr);
      throw new Error(`Cannot make the image of the test hosts: debootstrap failed:\n${last}`);
    }
    for (const path of REMOVED) await rm(join(aside, path), { recursive: true, force: true });
    await rename(aside, folder);
  });
  return folder;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log(await ensureHostImage().catch(failWith));
}
