/** Where a value stands in the inputs: names and list indexes, outermost first. */
export type InputPath = readonly PropertyKey[];

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `engine.maxModelLen`, `extraArgs["stream-interval"]`, `gpus[1]`; "" for the inputs themselves. */
export function formatPath(path: InputPath): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${String(part)}]`;
    else if (PLAIN_NAME.test(String(part))) text += text === "" ? String(part) : `.${String(part)}`;
    else text += `[${JSON.stringify(String(part))}]`;
  }
  return text;
}

const WRITTEN_PART = /\.?([A-Za-z_][A-Za-z0-9_]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gy;

/** The parts of what formatPath wrote. */
export function parsePath(written: string): readonly (string | number)[] {
  return [...written.matchAll(WRITTEN_PART)].map(([, name, index, quoted]) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? (name ?? "") : String(JSON.parse(quoted));
  });
}

/** Whether one of two written paths stands inside the other, or both are the same. */
export function pathsOverlap(first: string, second: string): boolean {
  return isInside(first, second) || isInside(second, first);
}

function isInside(inner: string, outer: string): boolean {
  if (outer === "" || inner === outer) return true;
  return inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
}

/** Names of secrets in any spelling: also those that are no inputs of ours, such as a connector's in extraArgs. */
const SECRET_NAME =
  /(?:passwor[dt]|passwd|passphrase|credentials?|(?:private|api|access|secret)[-_]?keys?|token|secret)$/i;

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Whether a value at this place must never be shown: credentials, keys and every environment value. */
export function isSecretPath(path: InputPath): boolean {
  const [first] = path;
  if (first === "environment") return true;
  return !isOverrides(first) && path.some((name) => isSecretName(String(name)));
}

/** Parts of a model's public config: `pad_token` is no secret there. */
function isOverrides(first: PropertyKey | undefined): boolean {
  return first === "configOverrides" || first === "quantizationConfigOverrides";
}
