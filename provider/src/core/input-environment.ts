import { z } from "zod";
import { isRecord } from "./input-json";
import { isText } from "./input-leaf";

/** Variables that this provider sets itself -> what to use instead. */
const OWNED_VARIABLES: ReadonlyMap<string, string> = new Map([
  ["PULUMI_VLLM_SERVER", "nothing: it marks the processes of this server"],
  ["SPT_NOENV", "nothing: it keeps the mark of this server's processes readable"],
  ["TMPDIR", "nothing: each server has a temporary folder of its own"],
  ["VLLM_RPC_BASE_PATH", "nothing: sockets belong into the server's own temporary folder"],
  ["CUDA_VISIBLE_DEVICES", "gpus"],
  ["CUDA_DEVICE_ORDER", "gpus"],
  ["VLLM_API_KEY", "apiKey"],
  ["VLLM_ENGINE_READY_TIMEOUT_S", "timeouts.ready"],
]);

/** Whether a variable is none of the user's to give. */
export function isOwnedVariable(name: string): boolean {
  return OWNED_VARIABLES.has(name);
}

/** `environment`: names as a shell takes them. Values are secret here: nobody can tell which are not. */
export const environmentSchema: z.ZodType<Readonly<Record<string, string>>> = z
  .unknown()
  .transform((value, context) => {
    if (!isRecord(value)) {
      context.addIssue({ code: "custom", message: 'an object of variables such as { HF_HOME: "/data/hf" }' });
      return z.NEVER;
    }
    const read: [string, string][] = [];
    for (const [name, given] of Object.entries(value)) {
      const wanted = wantedVariable(name, given);
      if (wanted !== null) context.addIssue({ code: "custom", path: [name], message: wanted });
      else if (typeof given === "string") read.push([name, given]);
    }
    return Object.fromEntries(read);
  });

function wantedVariable(name: string, value: unknown): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return "a name of letters, digits and _, not beginning with a digit";
  const instead = OWNED_VARIABLES.get(name);
  if (instead !== undefined) return instead;
  if (value === null || value === undefined || isText(value)) return null;
  return typeof value === "string"
    ? "text without NUL and half surrogates"
    : "text: put numbers and true or false in quotes";
}
