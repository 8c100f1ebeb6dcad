import { z } from "zod";
import { wantedKind, parsedInside, type Kinds } from "./input-either";
import { choice, hostPath, httpUrl, isText, leaf } from "./input-leaf";
import { DEFAULTS, VERIFY_DEPTHS, type ModelSpec } from "./spec";

/** Longest name of a repository, both parts. Source: huggingface_hub 2.4.0 utils/_validators.py. */
const REPO_CHARACTERS = 96;

const repository = leaf<string>(wantedRepository, isRepository);
const revision = leaf<string>("a revision: 40 hex digits, a branch or a tag", isRevision);

/** "org/name@revision" and both parts by themselves: what a model that is a text can be. */
const reference = leaf<string>(
  (value) =>
    typeof value === "string" && /^[~./]/.test(value)
      ? `{ path: ${JSON.stringify(value)} } for a folder on the host`
      : 'text such as "org/name@revision", or an object with path or repo',
  (value) => {
    const [name, at] = parts(value);
    return isRepository(name) && (at === undefined || isRevision(at));
  },
);

const patterns = z.array(
  leaf<string>(
    'a pattern of names in the repository such as "*.json"',
    (value) => isText(value) && /^(?!\/)[^\r\n]+$/.test(value) && !value.split("/").includes(".."),
  ),
  { error: 'a list of patterns such as ["*.json", "*.safetensors"]' },
);

const members = {
  path: hostPath("folder of the checkpoint").nullish(),
  repo: repository.nullish(),
  revision: revision.nullish(),
  include: patterns.min(1, { error: "at least one pattern, or nothing" }).nullish(),
  exclude: patterns.min(1, { error: "at least one pattern, or nothing" }).nullish(),
  token: leaf<string>(
    "text of printable ASCII characters without spaces, at least one",
    (value) => typeof value === "string" && /^[\x21-\x7e]+$/.test(value),
  ).nullish(),
  endpoint: httpUrl("address of a hub").nullish(),
  cacheDir: hostPath("folder for downloads").nullish(),
  verify: choice(VERIFY_DEPTHS).nullish(),
};

/** Names below `model`. */
export const MODEL_NAMES: readonly string[] = Object.keys(members);

const written = z.strictObject(members, {
  error: 'text such as "org/name@revision", or an object such as { path: "/models/my-model" }',
});

const KINDS: Kinds = {
  first: "path",
  second: ["repo", "revision", "include", "exclude", "token", "endpoint", "cacheDir"],
  needed: "repo",
};

export const modelSchema: z.ZodType<ModelSpec> = z.unknown().transform((value, context) => {
  if (typeof value === "string") {
    const text = parsedInside(reference, value, context);
    if (text === null) return z.NEVER;
    const [repo, at] = parts(text);
    return modelSpec({ repo, revision: at });
  }
  const given = parsedInside(written, value, context, wantedKind(value, KINDS));
  return given === null ? z.NEVER : modelSpec(given);
});

function modelSpec(given: z.output<typeof written>): ModelSpec {
  const verify = given.verify ?? DEFAULTS.verify;
  if (given.path !== undefined && given.path !== null)
    return { kind: "local", path: withoutEmptyParts(given.path), verify };
  return {
    kind: "hub",
    repo: given.repo ?? "",
    revision: given.revision == null ? null : asCommit(given.revision),
    include: asSet(given.include),
    exclude: asSet(given.exclude),
    token: given.token ?? null,
    endpoint: given.endpoint?.replace(/\/+$/, "") ?? null,
    cacheDir: given.cacheDir == null ? null : withoutEmptyParts(given.cacheDir),
    verify,
  };
}

/** Their order, and saying one twice, decides nothing. */
function asSet(patterns: readonly string[] | null | undefined): readonly string[] | null {
  return patterns == null ? null : [...new Set(patterns)].sort();
}

function parts(value: unknown): readonly [string, string | undefined] {
  const text = typeof value === "string" ? value : "";
  const at = text.indexOf("@");
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** As huggingface_hub 2.4.0 validates it, but with an owner: a name alone only leads on to another repository. */
function isRepository(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length <= REPO_CHARACTERS &&
    /^\w(?:[\w.-]*\w)?\/\w(?:[\w.-]*\w)?$/.test(value) &&
    !/--|\.\.|\.git$/.test(value)
  );
}

function wantedRepository(value: unknown): string {
  const [name, at] = parts(value);
  if (at !== undefined && isRepository(name))
    return `${JSON.stringify(name)}: revision is an input of its own`;
  return 'a repository as "org/name"';
}

/** What git takes as the name of a branch or a tag, which a commit is too. Source: git-check-ref-format(1). */
function isRevision(value: unknown): value is string {
  return (
    isText(value) &&
    value.length <= 255 &&
    /^[^\s\p{Cc}~^:?*[\\]+$/u.test(value) &&
    !/^[-/]|\/$|\.$|\.lock$|\.\.|\/\/|\/\.|^\.|@\{/.test(value)
  );
}

function asCommit(text: string): string {
  return /^[0-9A-Fa-f]{40}$/.test(text) ? text.toLowerCase() : text;
}

/** `/models//kimi/./` names the same folder as `/models/kimi`. */
function withoutEmptyParts(path: string): string {
  return path.replace(/\/(?:\.?\/)*/g, "/").replace(/\/\.?$/, "");
}
