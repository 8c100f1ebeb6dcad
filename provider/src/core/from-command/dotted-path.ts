import type { InputPath } from "../input-path";

/** As notes name an input: `extraArgs.hf-config-path`, `engine.loraModules[0].path`. */
export function dottedPath(path: InputPath): string {
  return path
    .map((part, index) =>
      typeof part === "number" ? `[${String(part)}]` : `${index === 0 ? "" : "."}${String(part)}`,
    )
    .join("");
}
