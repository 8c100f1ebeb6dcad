import { z } from "zod";
import { wantedKind, parsedInside, type Kinds } from "./input-either";
import { hostPath, indexUrl, isText, leaf } from "./input-leaf";
import type { VllmSpec } from "./spec";

/** One exact version, as PEP 440 writes it. */
const EXACT_VERSION =
  /^\d+(?:\.\d+)*(?:(?:a|b|rc)\d+)?(?:\.post\d+)?(?:\.dev\d+)?(?:\+[a-z0-9]+(?:[._-][a-z0-9]+)*)?$/;

const version = leaf<string>(
  (value) => {
    const meant = typeof value === "string" ? value.trim().replace(/^(?:vllm)?\s*(?:==|v|@)\s*/i, "") : null;
    const hint = meant !== null && EXACT_VERSION.test(meant) ? `, here ${JSON.stringify(meant)}` : "";
    return `one exact version such as "0.33.0"${hint}`;
  },
  (value) => typeof value === "string" && EXACT_VERSION.test(value),
);

const members = {
  executable: hostPath("the vllm program").nullish(),
  version: version.nullish(),
  packages: z
    .array(
      // A line that begins with a dash would be an option of the installer.
      leaf<string>(
        'a requirement such as "flashinfer-python==0.4.1"',
        (value) => isText(value) && /^[A-Za-z0-9][^\r\n]*$/.test(value),
      ),
      { error: 'a list of requirements such as ["flashinfer-python==0.4.1"]' },
    )
    .nullish(),
  indexUrl: indexUrl().nullish(),
  extraIndexUrls: z.array(indexUrl(), { error: "a list of addresses of package indexes" }).nullish(),
  python: leaf<string>(
    'a version of Python such as "3.12", or the absolute path of one on the host',
    (value) => isText(value) && /^3\.\d{1,2}(?:\.\d{1,2})?$|^~?\/\S+$/.test(value),
  ).nullish(),
  torchBackend: leaf<string>(
    'which PyTorch: "auto", "cpu", "cu128", ...',
    (value) => typeof value === "string" && /^[a-z][a-z0-9.]*$/.test(value),
  ).nullish(),
};

/** Names below `vllm`. */
export const VLLM_NAMES: readonly string[] = Object.keys(members);

const written = z.strictObject(members, {
  error: 'an object such as { version: "0.33.0" } or { executable: "/opt/vllm/bin/vllm" }',
});

const KINDS: Kinds = {
  first: "executable",
  second: ["version", "packages", "indexUrl", "extraIndexUrls", "python", "torchBackend"],
  needed: null,
};

export const vllmSchema: z.ZodType<VllmSpec> = z.unknown().transform((value, context) => {
  const given = parsedInside(written, value, context, wantedKind(value, KINDS));
  return given === null ? z.NEVER : vllmSpec(given);
});

/** Nothing given at all is the vllm of the login environment. */
function vllmSpec({ executable, ...given }: z.output<typeof written>): VllmSpec {
  if (Object.values(given).every((value) => value === undefined || value === null))
    return { kind: "executable", executable: executable ?? null };
  return {
    kind: "environment",
    version: given.version ?? null,
    packages: given.packages ?? [],
    indexUrl: given.indexUrl ?? null,
    extraIndexUrls: given.extraIndexUrls ?? [],
    python: given.python ?? null,
    torchBackend: given.torchBackend ?? null,
  };
}
