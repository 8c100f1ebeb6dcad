import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ERROR_CODES } from "../../provider/src/core/errors";

const AGENT = join(import.meta.dirname, "../../provider/src/remote/agent");

/** What the agent's modules say where a code stands: the first argument of a failure. */
const raised = readdirSync(AGENT)
  .filter((name) => name.endsWith(".py"))
  .flatMap((name) => [...readFileSync(join(AGENT, name), "utf8").matchAll(/AgentFailure\(\s*"([A-Z_]+)"/g)])
  .map((match) => match[1] ?? "");

describe("the error codes", () => {
  it("are a closed list: the agent raises none that users cannot match on", () => {
    expect(raised.length).toBeGreaterThan(20);
    expect([...new Set(raised)].filter((code) => !(ERROR_CODES as readonly string[]).includes(code))).toEqual(
      [],
    );
  });

  it("stand there once", () => {
    expect(new Set(ERROR_CODES).size).toBe(ERROR_CODES.length);
  });
});
