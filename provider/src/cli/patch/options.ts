import { readWords } from "../words";

export interface PatchOptions {
  readonly checkpoint: string;
  readonly kvCacheDtype: string;
  /** File of overrides; null: none. */
  readonly overrides: string | null;
  /** Folder to write; null: nothing is written. */
  readonly out: string | null;
  /** vLLM that the flag is chosen for; null: the newest. */
  readonly vllmVersion: string | null;
}

export const HELP = `usage: pulumi-vllm patch DIR --kv-cache-dtype DTYPE [--overrides FILE] [--out DIR] [--vllm-version V] [--json]

Says what config.json and hf_quant_config.json of the checkpoint in DIR have to become so that vLLM gives the KV cache
the wished dtype, and why. DIR is never written.

  --kv-cache-dtype DTYPE   as in kvCacheDtype: auto leaves the files alone; bfloat16 and float16 set every request for a
                           quantized KV cache to null; any other is a matter of vLLM's flag alone
  --overrides FILE         JSON: {"quantizationConfigOverrides": {...}, "configOverrides": {...}}, either may be left out.
                           An object with neither key is taken for quantizationConfigOverrides itself. Objects merge,
                           all else (lists too) is replaced, null becomes null
  --out DIR                write a folder for vLLM to serve from: links to everything in the checkpoint, and the
                           patched files. It must be empty or not there yet. Nothing is written when anything fails
  --vllm-version V         vLLM to choose the flag for, e.g. 0.32.0; default: a new one
  --json                   one JSON object on stdout:
                             {"files": {NAME: whole content afterwards}, "changes": [{"file", "path", "from", "to"}],
                              "warnings": [{"code", "message"}], "flag": {"kvCacheDtype": flag or null, "warnings": [...]}}
                           or {"error": {"code", "message"}}

exit code: 0 done, 1 not possible, 2 the command line is not right (all of its problems are told)
`;

const OPTIONS = {
  "kv-cache-dtype": { type: "string" },
  overrides: { type: "string" },
  out: { type: "string" },
  "vllm-version": { type: "string" },
  json: { type: "boolean" },
} as const;

export interface ReadOptions {
  readonly problems: readonly string[];
  /** null: there are problems. */
  readonly options: PatchOptions | null;
}

export function readOptions(given: readonly string[]): ReadOptions {
  const words = readWords(given, OPTIONS);
  const [checkpoint, ...surplus] = words.positionals;
  const kvCacheDtype = words.texts.get("kv-cache-dtype");
  const problems = [...words.problems];
  if (checkpoint === undefined || checkpoint === "")
    problems.push("DIR, the folder of the checkpoint, is missing");
  for (const word of surplus) problems.push(`${JSON.stringify(word)} is one word too many`);
  const isDtypeGiven = given.some((word) => /^--kv-cache-dtype(=|$)/.test(word));
  if (!isDtypeGiven) problems.push("--kv-cache-dtype is missing");
  const version = words.texts.get("vllm-version");
  if (version !== undefined && !/^v?\d+\.\d+/.test(version))
    problems.push(`--vllm-version is ${JSON.stringify(version)}, need one like 0.32.0`);
  if (problems.length > 0 || checkpoint === undefined || kvCacheDtype === undefined)
    return { problems, options: null };
  return {
    problems,
    options: {
      checkpoint,
      kvCacheDtype,
      overrides: words.texts.get("overrides") ?? null,
      out: words.texts.get("out") ?? null,
      vllmVersion: version ?? null,
    },
  };
}
