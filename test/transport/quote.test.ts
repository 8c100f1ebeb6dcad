import { execFileSync, spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { quoteAll } from "../../provider/src/ssh/quote";
import { agentBundle } from "../../provider/src/remote/agent-bundle";

/** Login shells a host may have; those this machine lacks are left out. */
const shells = ["sh", "dash", "bash", "zsh", "ksh", "fish", "csh", "tcsh"].filter(
  (shell) => spawnSync(shell, ["-c", "true"]).status === 0,
);

const characters = `a b ' " \\ ! $ \` * ? ~ { } [ ] ( ) < > | & ; # % ^ = Ä -`.split(" ");
const word = fc.string({ unit: fc.constantFrom(" ", "\t", ...characters), maxLength: 12 });

describe.each(shells)("%s reads every quoted word as it was", (shell) => {
  test("whatever is in it", () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
        const printed = execFileSync(shell, ["-c", `/usr/bin/printf '<%s>' ${quoteAll(words)}`], {
          encoding: "utf8",
        });
        expect(printed).toBe(words.map((one) => `<${one}>`).join(""));
      }),
      { numRuns: 40 },
    );
  });

  test("the command line of the agent too", async () => {
    const command = (await agentBundle()).command("/no/such/'python'!");
    const printed = spawnSync(shell, ["-c", command], { encoding: "utf8", input: "" }).stdout;
    expect(JSON.parse(printed)).toMatchObject({ event: "error", error: { code: "PYTHON_MISSING" } });
  });
});

test("a line break cannot be in a word", () => {
  expect(() => quoteAll(["a\nb"])).toThrow(RangeError);
});
