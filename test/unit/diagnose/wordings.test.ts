import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diagnose } from "../../../provider/src/core/diagnose";

/** One wording a line: cause, a tab, the message as vLLM prints it ("\n" for more lines); "# after ready" lines start a section. */
const table = readFileSync(join(import.meta.dirname, "wordings.txt"), "utf8");
let isServing = false;
const wordings = table.split("\n").flatMap((line) => {
  if (line.startsWith("#")) isServing = line.includes("after ready");
  if (line === "" || line.startsWith("#")) return [];
  const [cause = "", ...rest] = line.split("\t");
  return [{ cause, message: rest.join("\t").replaceAll("\\n", "\n"), isServing }];
});

test.each(wordings)("$cause: $message", ({ cause, message, isServing: serving }) => {
  const error = message
    .split("\n")
    .map((line) => `(EngineCore pid=9) ERROR 12-01 10:00:00 [core.py:1] ${line}`);
  const log = [
    "(APIServer pid=1) INFO 12-01 09:59:00 [model.py:1] Resolved architecture: LlamaForCausalLM",
    ...(serving ? ["(APIServer pid=1) INFO:     Application startup complete."] : []),
    `(EngineCore pid=9) ERROR 12-01 10:00:00 [core.py:1] ${serving ? "EngineCore encountered a fatal error." : "EngineCore failed to start."}`,
    ...(cause.startsWith("PORT_") ? message.split("\n") : error),
    "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
  ].join("\n");
  expect(diagnose({ log, exitCode: 1, signal: null }).cause).toBe(cause);
});
