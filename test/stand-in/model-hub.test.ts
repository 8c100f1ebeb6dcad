import { expect, test } from "vitest";
import { startModelHub } from "../support/model-hub";

const OLD = "a".repeat(40);
const NEW = "b".repeat(40);

test("the model hub takes orders from a test and says what went out", async () => {
  const hub = await startModelHub({
    repositories: {
      "org/m": {
        revisions: [
          { sha: OLD, refs: ["main"], files: { "config.json": "{}" } },
          { sha: NEW, refs: [], files: { "config.json": "{}" } },
        ],
      },
    },
  });
  try {
    const file = `${hub.url}/org/m/resolve/main/config.json`;
    expect(await (await fetch(file)).text()).toBe("{}");
    await hub.setFaults([{ kind: "status", status: 503, times: 1 }]);
    expect((await fetch(file)).status).toBe(503);
    await hub.goAway();
    await expect(fetch(file)).rejects.toThrow();
    await hub.comeBack();
    expect((await hub.move("org/m", "main", NEW)).refs).toEqual({ "org/m": { main: NEW } });
    const moved = await fetch(file);
    expect(moved.headers.get("x-repo-commit")).toBe(NEW);
    // What is asked for and not read may not have gone out yet.
    expect(await moved.text()).toBe("{}");
    const { files, away, leakedTokens } = await hub.state();
    expect(files).toEqual({ "org/m": { "config.json": { bytes: 4, gets: 2, heads: 0, ranges: [] } } });
    expect({ away, leakedTokens }).toEqual({ away: false, leakedTokens: [] });
  } finally {
    await hub.close();
  }
});
