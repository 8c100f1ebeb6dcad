import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandLine, scriptText, type ScriptName } from "../../provider/src/pulumi/gpu-host/scripts";
import { makeNetwork } from "./host-network";
import { makeSystemdHost, type SystemdHost } from "./systemd-host";

/** A machine as it came, without nvidia-smi; "ops" has sudo, "eve" has not. */
export interface BareMachine {
  readonly host: SystemdHost;
  /** A private key that lets everybody in. */
  readonly keyPath: string;
  /** A script of GpuHost, as the plugin `command` runs it: one line for the login shell, the script on stdin. "ops" by default. */
  run(script: ScriptName, words: readonly string[], user?: string): Ran;
  /** A new disk of 64 MiB: its device on both machines, and the file here that holds its content. */
  disk(name: string): { readonly device: string; readonly file: string };
  /** Puts a package with these programs in the one source that apt has there. */
  offer(name: string, programs: Readonly<Record<string, string>>): void;
  close(): Promise<void>;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export async function makeBareMachine(name: string): Promise<BareMachine> {
  const network = await makeNetwork();
  const folder = mkdtempSync(join(tmpdir(), "bare-machine-"));
  const loops: string[] = [];
  const users = [{ name: "ops", sudo: true }, { name: "eve" }];
  const host = await makeSystemdHost({ name, users }, network).catch(async (error: unknown) => {
    await network.close();
    throw error;
  });
  const keyPath = join(folder, "key");
  writeFileSync(keyPath, host.privateKey, { mode: 0o600 });
  writeFileSync(join(folder, "known_hosts"), `${host.address} ${host.hostKeyLine}\n`);
  host.run("rm /usr/local/bin/nvidia-smi");
  return {
    host,
    keyPath,
    run: (script, words, user = "ops") => {
      const options = ["-F", "none", "-i", keyPath, "-o", "BatchMode=yes", "-o", "LogLevel=ERROR"];
      const known = ["-o", `UserKnownHostsFile=${join(folder, "known_hosts")}`];
      const { status, stdout, stderr } = spawnSync(
        "ssh",
        [...options, ...known, `${user}@${host.address}`, commandLine(name, words)],
        { input: scriptText(script), encoding: "utf8" },
      );
      return { code: status, stdout, stderr };
    },
    disk: (fileName) => {
      const file = join(folder, fileName);
      writeFileSync(file, "");
      truncateSync(file, 64 * 1024 * 1024);
      const device = execFileSync("losetup", ["--find", "--show", file], { encoding: "utf8" }).trim();
      loops.push(device);
      const { rdev } = statSync(device);
      host.run(`[ -b ${device} ] || mknod ${device} b ${String(rdev >> 8)} ${String(rdev & 0xff)}`);
      return { device, file };
    },
    offer: (packageName, programs) => {
      offer(host, packageName, programs);
    },
    close: async () => {
      await host.close();
      for (const device of loops) execFileSync("losetup", ["--detach", device]);
      await network.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function offer(host: SystemdHost, name: string, programs: Readonly<Record<string, string>>): void {
  const control = [
    `Package: ${name}`,
    "Version: 1",
    "Architecture: all",
    "Maintainer: nobody",
    `Description: ${name}`,
  ];
  host.run(`mkdir -p /srv/packages/${name}/DEBIAN /srv/packages/${name}/usr/bin`);
  host.run(
    `printf '%s\\n' ${control.map((line) => `'${line}'`).join(" ")} >/srv/packages/${name}/DEBIAN/control`,
  );
  for (const [program, text] of Object.entries(programs)) {
    const path = `/srv/packages/${name}/usr/bin/${program}`;
    host.run(`cat >${path} <<'E'\n${text}E\nchmod 755 ${path}`);
  }
  host.run(`
    cd /srv/packages
    dpkg-deb --root-owner-group --build ${name} ${name}.deb >/dev/null
    { cat ${name}/DEBIAN/control; echo "Filename: ./${name}.deb"; echo "Size: $(stat -c %s ${name}.deb)"
      echo "SHA256: $(sha256sum ${name}.deb | cut -d ' ' -f 1)"; echo; } >>Packages
    rm -f /etc/apt/sources.list.d/*
    echo 'deb [trusted=yes] file:/srv/packages ./' >/etc/apt/sources.list`);
}
