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

/** Whether one of two written paths stands inside the other, or both are the same. */
export function pathsOverlap(first: string, second: string): boolean {
  return isInside(first, second) || isInside(second, first);
}

function isInside(inner: string, outer: string): boolean {
  if (outer === "" || inner === outer) return true;
  return inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
}

const SECRET_HOST_KEYS: ReadonlySet<PropertyKey> = new Set(["password", "privateKey", "privateKeyPassword"]);

/** Whether a value at this place must never be shown: credentials, the API key and every environment value. */
export function isSecretPath(path: InputPath): boolean {
  const [first, ...rest] = path;
  if (first === "apiKey" || first === "environment") return true;
  if (first === "extraArgs") return rest[0] === "api-key" || rest[0] === "hf-token";
  return first === "host" && rest.some((part) => SECRET_HOST_KEYS.has(part));
}
