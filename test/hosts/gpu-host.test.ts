import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeBareMachine, type BareMachine } from "../support/bare-machine";

/**
 * The scripts of GpuHost on a machine with systemd, as the plugin `command` runs them: one line for the login shell, the script on stdin.
 * nvidia-smi is a stand-in, packages come from a folder of the machine, disks are files behind loop devices.
 */

const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI of-somebody";
/** Answers as nvidia-smi does, with the driver and the persistence mode that two files hold. */
const NVIDIA_SMI = `#!/bin/sh
case $1 in
  --query-gpu=driver_version) cat /run/driver ;;
  --query-gpu=persistence_mode) cat /run/persistence ;;
  -pm) echo Enabled >/run/persistence ;;
esac
`;

let machine: BareMachine;
let host: BareMachine["host"];
let run: BareMachine["run"];

const did = (...lines: readonly string[]): object => ({
  code: 0,
  stdout: lines.map((line) => `${line}\n`).join(""),
});
const refused = (found: string): object => ({
  code: 1,
  stderr: expect.stringContaining(`Cannot prepare gpu1: ${found}`),
});

/** The first sector of a disk with one Linux partition from its second MiB on. */
function bootRecord(): Buffer {
  const sector = Buffer.alloc(512);
  sector[446 + 4] = 0x83;
  sector.writeUInt32LE(2048, 446 + 8);
  sector.writeUInt32LE(2048, 446 + 12);
  sector.writeUInt16LE(0xaa55, 510);
  return sector;
}

beforeAll(async () => {
  machine = await makeBareMachine("gpu1");
  ({ host, run } = machine);
});

afterAll(async () => {
  await machine.close();
});

describe("the driver", () => {
  it("that is not there is a clear error; nothing is installed unasked", () => {
    expect(run("driver", ["570", ""])).toMatchObject({
      code: 1,
      stdout: "",
      stderr:
        "Cannot prepare gpu1: found no NVIDIA driver, need 570 or newer\n" +
        '  change: driver.install (a package, such as "nvidia-driver-570-server"), or install one by hand\n',
    });
  });

  it.each([
    { found: "570.86.15", minimum: "570", is: did("driver 570.86.15") },
    { found: "1000.1\n1000.1", minimum: "570", is: did("driver 1000.1") },
    { found: "550.54", minimum: "570", is: refused("found NVIDIA driver 550.54, need 570 or newer\n") },
    { found: "570.9", minimum: "570.86", is: refused("found NVIDIA driver 570.9, need 570.86 or newer\n") },
  ])("$found is judged by $minimum", ({ found, minimum, is }) => {
    host.run(`cat >/usr/local/bin/nvidia-smi <<'E'\n${NVIDIA_SMI}E\nchmod 755 /usr/local/bin/nvidia-smi`);
    host.run(`printf '%s\\n' '${found}' >/run/driver`);
    expect(run("driver", [minimum, ""])).toMatchObject(is);
  });

  it("that does not answer is told in its own words", () => {
    host.run("rm /run/driver");
    expect(run("driver", ["570", ""])).toMatchObject(
      refused(
        "found an NVIDIA driver that does not answer (cat: /run/driver: No such file or directory), need 570",
      ),
    );
  });
});

describe("persistence mode", () => {
  it("is switched on, now and at every boot, once", async () => {
    host.run("echo Disabled >/run/persistence");
    expect(run("persistence", [])).toMatchObject(
      did(
        "changed: wrote /etc/systemd/system/nvidia-persistence-mode.service",
        "changed: nvidia-persistence-mode.service is started at boot",
        "changed: persistence mode is on",
      ),
    );
    expect(host.run("cat /run/persistence")).toBe("Enabled\n");
    expect(run("persistence", [])).toMatchObject(did());
    await host.powerOff();
    await host.powerOn();
    expect(host.run("cat /run/persistence")).toBe("Enabled\n");
    expect(run("persistence", [])).toMatchObject(did());
  });
});

describe("packages", () => {
  it("are installed where they are missing, once", () => {
    machine.offer("one", {});
    expect(run("packages", ["one", "coreutils"])).toMatchObject(did("changed: installed one"));
    expect(host.run("dpkg-query -W -f '${db:Status-Status}' one")).toBe("installed");
    expect(run("packages", ["one", "coreutils"])).toMatchObject(did());
  });

  it("that nobody has are an error with their names", () => {
    expect(run("packages", ["two"])).toMatchObject(refused("apt-get could not install two"));
  });
});

describe("a driver that may be installed", () => {
  it("is installed where there is none, once", () => {
    machine.offer("driver-575", { "nvidia-smi": NVIDIA_SMI });
    host.run("rm /usr/local/bin/nvidia-smi && echo 575.57.08 >/run/driver");
    expect(run("driver", ["570", "driver-575"])).toMatchObject(
      did("changed: installed driver-575", "driver 575.57.08"),
    );
    expect(run("driver", ["570", "driver-575"])).toMatchObject(did("driver 575.57.08"));
  });

  it("is not installed over an older one", () => {
    expect(run("driver", ["580", "driver-580"])).toMatchObject(
      refused("found NVIDIA driver 575.57.08, need 580 or newer\n"),
    );
  });
});

describe("the account", () => {
  it("is made, let in by its keys and given linger, once", () => {
    const key = execFileSync("ssh-keygen", ["-y", "-f", machine.keyPath], { encoding: "utf8" }).trim();
    const words = ["vllm", "yes", KEY, key];
    expect(run("user", words)).toMatchObject(
      did(
        "changed: made the account vllm",
        "changed: a key lets vllm in",
        "changed: a key lets vllm in",
        "changed: services of vllm run without a login",
      ),
    );
    const state = host.run(
      "stat -c '%U %a' /home/vllm/.ssh /home/vllm/.ssh/authorized_keys; ls /var/lib/systemd/linger",
    );
    expect(state).toBe("vllm 700\nvllm 600\nvllm\n");
    expect(host.run("id -un", "vllm")).toBe("vllm\n");
    expect(run("user", words)).toMatchObject(did());
  });
});

describe("a disk", () => {
  it("with nothing on it is formatted only when that was said, mounted, noted, and handed over, once", () => {
    const { device } = machine.disk("empty");
    expect(run("disk", [device, "/models", "", ""])).toMatchObject(
      refused(`found no file system on ${device}`),
    );
    const words = [device, "/models", "ext4", "vllm"];
    expect(run("disk", words)).toMatchObject(
      did(
        `changed: formatted ${device} as ext4`,
        `changed: mounted ${device} on /models`,
        `changed: /etc/fstab mounts ${device} on /models`,
        "changed: /models is vllm's",
      ),
    );
    host.run("echo kept >/models/file");
    const uuid = host.run(`blkid -p -s UUID -o value ${device}`).trim();
    expect(host.run("cat /etc/fstab").split("\n").at(-2)).toBe(
      `UUID=${uuid} /models ext4 defaults,nofail 0 2`,
    );
    expect(run("disk", words)).toMatchObject(did());
    host.run("umount /models");
    expect(run("disk", [`UUID=${uuid}`, "/models", "", ""])).toMatchObject(
      did(`changed: mounted UUID=${uuid} on /models`),
    );
    expect(host.run("cat /models/file")).toBe("kept\n");
    expect(run("disk", [device, "/elsewhere", "", ""])).toMatchObject(
      refused(`found ${device} mounted on /models, need it on /elsewhere`),
    );
    host.run("umount /models");
  });

  it("with a partition table, or with traces that are no file system, is never formatted", () => {
    const { device, file } = machine.disk("parted");
    writeFileSync(file, bootRecord(), { flag: "r+" });
    expect(run("disk", [device, "/other", "ext4", ""])).toMatchObject(
      refused(`found a partition table on ${device}, need a file system`),
    );
    const { device: member } = machine.disk("member");
    execFileSync("mkswap", [member], { stdio: "ignore" });
    expect(run("disk", [member, "/other", "ext4", ""])).toMatchObject(
      refused(`found swap on ${member}, need a file system`),
    );
    expect(execFileSync("blkid", ["-p", "-s", "TYPE", "-o", "value", member], { encoding: "utf8" })).toBe(
      "swap\n",
    );
  });

  it("does not hide files, and is no device that is not there", () => {
    const { device } = machine.disk("third");
    host.run("mkdir /full && touch /full/file");
    host.run(`mkfs.ext4 -q ${device}`);
    expect(run("disk", [device, "/full", "", ""])).toMatchObject(
      refused("found files in /full, which the disk would hide"),
    );
    expect(run("disk", ["/dev/nvme9n1", "/x", "ext4", ""])).toMatchObject(
      refused("found no disk /dev/nvme9n1"),
    );
  });
});

describe("the firewall", () => {
  it("is told of in words", () => {
    expect(run("firewall", ["8000", "8001"])).toMatchObject(
      did(
        "ufw is not active on gpu1. Rules of nftables and of the network around it are not looked at: they have to let in 8000/tcp, 8001/tcp.",
      ),
    );
  });
});

describe("who may not use sudo", () => {
  it("is told so before anything is looked at", () => {
    expect(run("driver", ["570", ""], "eve")).toMatchObject(
      refused("found that eve may not use sudo without a password, need root\n"),
    );
  });
});
