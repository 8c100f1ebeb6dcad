import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { logCommand, tunnelCommand } from "../../provider/src/core/ssh-command";
import type { HostSpec } from "../../provider/src/core/spec";
import { spec } from "../support/host-facts";

const { host } = spec();
const log = "/home/ann/.local/state/pulumi-vllm/kimi-0a1b2c3d/logs/3.log";

describe("commands to paste", () => {
  it.each<[Partial<HostSpec>, string]>([
    [{}, "gpu1"],
    [{ user: "ubuntu", port: 2222 }, "-p 2222 ubuntu@gpu1"],
    // The SSH configuration may say another port than the declared one.
    [{ port: 22 }, "-p 22 gpu1"],
    [{ proxy: { ...host, host: "jump", user: "j", port: 2200 } }, "-J j@jump:2200 gpu1"],
    [
      { proxy: { ...host, host: "inner", proxy: { ...host, host: "fd00::9", port: 2200 } } },
      "-J [fd00::9]:2200,inner gpu1",
    ],
    [{ sshConfigFile: "/my files/config" }, "-F '/my files/config' gpu1"],
    [
      { knownHostsFile: "/my files/known", agentSocketPath: "~/agent.sock" },
      `-o 'UserKnownHostsFile="/my files/known"' -o IdentityAgent=~/agent.sock gpu1`,
    ],
  ])("reach the host as it is declared: %j", (parts, words) => {
    const declared = { ...host, ...parts };
    expect(logCommand(declared, log)).toBe(`ssh ${words} 'tail -n 200 ${log}'`);
    expect(tunnelCommand(declared, "::1", 8000)).toBe(`ssh -N -L 8000:[::1]:8000 ${words}`);
  });

  it("carry no key and no password", () => {
    const secretive = { ...host, password: "s3cret", privateKey: "KEY", privateKeyPassword: "phrase" };
    expect(logCommand(secretive, log)).toBe(logCommand(host, log));
  });

  it("quote a path for both shells", () => {
    const path = "/home/o'neil and sons/3.log";
    const words = ["-c", `for word in ${logCommand(host, path)}; do echo "$word"; done`];
    const [, , remote = ""] = execFileSync("sh", words, { encoding: "utf8" }).split("\n");
    const seen = execFileSync("sh", ["-c", `tail() { echo "$3"; }; ${remote}`], { encoding: "utf8" });
    expect(seen).toBe(`${path}\n`);
  });
});
