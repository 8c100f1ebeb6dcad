import { describe, expect, it } from "vitest";
import { dialFailure } from "../../provider/src/ssh/connection-failure";

const failure = (parts: object, hasGreeted?: boolean): readonly [boolean, boolean] => {
  const { isTemporary, isSilence } = dialFailure(Object.assign(new Error("x"), parts), hasGreeted);
  return [isTemporary, isSilence];
};

/** [what ssh2 tells, worth another try, no machine answered] */
describe("a failed try to connect", () => {
  it.each([
    [{ code: "ECONNREFUSED" }, true, true],
    [{ code: "ETIMEDOUT" }, true, true],
    [{ code: "EHOSTUNREACH" }, true, true],
    [{ code: "EHOSTDOWN" }, true, true],
    [{ code: "ENOTFOUND" }, false, true],
    // Something is there.
    [{ code: "ECONNRESET" }, true, false],
    [{ code: "EPIPE" }, true, false],
    [{ level: "protocol" }, true, false],
    [{ level: "handshake" }, false, false],
    [{ level: "client-socket" }, true, false],
    // This side has no network, no name server, or a firewall.
    [{ code: "ENETUNREACH" }, true, false],
    [{ code: "EAI_AGAIN" }, true, false],
    [{ code: "EACCES" }, false, false],
  ])("%j: temporary %s, silence %s", (parts, isTemporary, isSilence) => {
    expect(failure(parts)).toEqual([isTemporary, isSilence]);
  });

  it("that ran out of time is silence only before the host has answered", () => {
    const late = { level: "client-timeout" };
    expect([failure(late), failure(late, true)]).toEqual([
      [true, true],
      [true, false],
    ]);
  });
});
