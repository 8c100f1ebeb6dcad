import { isRecord } from "../../core/input-json";

/** Names that Pulumi gives an object in state which stands for a secret. Source: Pulumi SDK 3, runtime/rpc.ts specialSigKey, specialSecretSig. */
const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";

/** Whether a secret stands in it that only the stack's own key opens. */
export function holdsClosedSecret(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsClosedSecret);
  if (!isRecord(value)) return false;
  if (value[SIGNATURE] === SECRET) return typeof value["plaintext"] !== "string";
  return Object.values(value).some(holdsClosedSecret);
}

/** The value with what `--show-secrets` has opened in the places of the secrets. */
export function withOpenedSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withOpenedSecrets);
  if (!isRecord(value)) return value;
  const { plaintext } = value;
  if (value[SIGNATURE] === SECRET && typeof plaintext === "string")
    return withOpenedSecrets(JSON.parse(plaintext));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withOpenedSecrets(member)]));
}
