import { describe, expect, it } from "vitest";
import { VllmServerError, type ErrorCode } from "../../provider/src/core/errors";
import { leftBehind } from "../../provider/src/core/left-behind";
import { lostHost } from "../../provider/src/core/lost-host";
import { owner, SERVER_ID, spec } from "../support/host-facts";

const failure = (code: ErrorCode, isSilence?: boolean): VllmServerError =>
  new VllmServerError({
    code,
    summary: "Cannot connect to gpu1:22: no answer",
    change: "host",
    retryable: true,
    isSilence,
  });
const silent = failure("HOST_UNREACHABLE", true);

describe("a deletion whose host does not answer", () => {
  it("forgets only where that is wished", () => {
    expect(lostHost(silent, "forget", owner.urn)).toEqual({ kind: "forget", error: silent });
    const { kind, error } = lostHost(silent, "fail", owner.urn);
    expect([kind, error instanceof Error ? error.message.split("\n") : null]).toEqual([
      "fail",
      [
        "Cannot connect to gpu1:22: no answer",
        "  change: get the host to answer, and run this again. Gone for good? Give the resource " +
          'onDelete: { unreachableHost: "forget" }, run `pulumi up` (it records that without the host), then this again; ' +
          `without its program: pulumi state delete '${owner.urn}'`,
      ],
    ]);
  });

  it.each<[string, unknown]>([
    ["something that answers without SSH, or a dead network here", failure("HOST_UNREACHABLE", false)],
    ["a failure to connect that says neither", failure("HOST_UNREACHABLE")],
    ...(
      [
        "HOST_KEY_CHANGED",
        "HOST_KEY_UNKNOWN",
        "HOST_KEY_REVOKED",
        "AUTHENTICATION_FAILED",
        "CONNECTION_LOST",
        "AGENT_CRASHED",
        "AGENT_DEADLINE",
        "PYTHON_MISSING",
        "HOST_LOCKED",
        "STOP_INCOMPLETE",
        "GPU_MEMORY_HELD",
      ] as const
    ).map((code): [string, unknown] => [code, failure(code, true)]),
    ["a bug", new TypeError("x is not a function")],
  ])("never forgets after %s", (_what, error) => {
    expect(lostHost(error, "forget", owner.urn).kind).toBe("fail");
  });

  it("says that the wish does not count where something answers", () => {
    const { error } = lostHost(failure("HOST_UNREACHABLE", false), "forget", owner.urn);
    expect(error).toMatchObject({
      message: expect.stringContaining(
        "Something answers, or the network here is down: onDelete.unreachableHost does not count then",
      ),
    });
  });
});

describe("what may be left behind", () => {
  const folder = `/home/ann/.local/state/pulumi-vllm/${SERVER_ID}`;
  const seen = { status: "ready", pid: 4242, gpuUuids: ["GPU-0", "GPU-1"], logPath: `${folder}/logs/3.log` };
  const unit = `pulumi-vllm-${SERVER_ID}.service`;

  it.each([
    [
      "a process, found by its mark and not by a number that may be another's by then",
      { ...seen, manager: "process", serviceName: null, startsOnBoot: false },
      [
        `may still run on gpu1: server ${SERVER_ID}, last seen ready: pid 4242, port 8000, GPU-0, GPU-1`,
        `look: ssh gpu1 'grep -lsxz PULUMI_VLLM_SERVER=${SERVER_ID} /proc/[0-9]*/environ'`,
        `stop: ssh gpu1 'touch ${folder}/stop-intent; grep -lsxz PULUMI_VLLM_SERVER=${SERVER_ID} /proc/[0-9]*/environ | cut -d/ -f3 | xargs -r kill'`,
      ],
    ],
    [
      "a system unit",
      { ...seen, manager: "systemd", serviceName: unit, startsOnBoot: true },
      [
        `may still run on gpu1: server ${SERVER_ID}, last seen ready: unit ${unit} (starts at boot), pid 4242, port 8000, GPU-0, GPU-1`,
        `look: ssh gpu1 'systemctl status ${unit}'`,
        `stop: ssh gpu1 'sudo systemctl disable --now ${unit}'`,
      ],
    ],
    [
      "a unit of the user",
      { status: "crashed", manager: "systemd-user", serviceName: unit, startsOnBoot: false },
      [
        `may still run on gpu1: server ${SERVER_ID}, last seen crashed: unit ${unit}, port 8000`,
        `look: ssh gpu1 'systemctl --user status ${unit}'`,
        `stop: ssh gpu1 'systemctl --user disable --now ${unit}'`,
      ],
    ],
    [
      "a server whose start was never seen to end",
      {},
      [
        `may still run on gpu1: server ${SERVER_ID}, last seen unknown: port 8000`,
        `look: ssh gpu1 'grep -lsxz PULUMI_VLLM_SERVER=${SERVER_ID} /proc/[0-9]*/environ'`,
        `stop: ssh gpu1 'touch ~/.local/state/pulumi-vllm/${SERVER_ID}/stop-intent; grep -lsxz PULUMI_VLLM_SERVER=${SERVER_ID} /proc/[0-9]*/environ | cut -d/ -f3 | xargs -r kill'`,
      ],
    ],
  ])("is told of %s", (_what, outputs, lines) => {
    expect(leftBehind(spec(), SERVER_ID, outputs)).toEqual(lines);
  });
});
