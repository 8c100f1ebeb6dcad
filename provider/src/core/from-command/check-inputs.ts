import { isMembers } from "../input-json";
import type { JsonObject } from "../json";
import { parseInputs } from "../parse-inputs";
import { pathsOverlap } from "../input-path";
import { judgingTable, unsuitableValues } from "../vllm-flags";
import { SECRET } from "./environment-inputs";
import type { Notes } from "./note";

/** A host that every check takes; it is told of nowhere. */
const SOME_HOST = "host";

/** Tells what the resource itself, or vLLM's parser, would refuse of inputs that were read from a text. */
export function tellRefused(inputs: JsonObject, version: string | null, notes: Notes): void {
  const told = notes.all().map(({ subject }) => subject);
  const tell = (inputPath: string, wanted: string): void => {
    const path = inputPath.replace(/\["([^"]*)"\]/g, ".$1");
    const isTold = told.some((subject) => subject !== "" && pathsOverlap(path, subject));
    if (isTold || (path.includes(".ssl-") && told.includes("extraArgs.ssl-certfile"))) return;
    notes.add("refused-value", path, wanted);
  };
  const plain = withoutMarks({ host: SOME_HOST, ...inputs });
  const parsed = parseInputs(plain);
  if (!parsed.ok) {
    for (const { path, wanted } of parsed.problems) tell(path, `the resource needs ${wanted}`);
    return;
  }
  const table = judgingTable(version);
  for (const { path, wanted } of table === null ? [] : unsuitableValues(parsed.spec, table.rows))
    tell(path, `vLLM ${table?.version ?? ""} needs ${wanted}`);
}

/** A secret that passes for one. */
function withoutMarks(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      if (each === SECRET) return [name, "secret"];
      return [name, isMembers(each) ? withoutMarks(each) : each];
    }),
  );
}
