import type { JsonObject, JsonValue } from "../json";
import { SECRET, tellSecret } from "./environment-inputs";
import { type GivenWord, isKnown } from "./given-word";
import type { Launch } from "./launch";
import { type Notes, Rejected } from "./note";
import { hostPathOf, isRepository } from "./paths";
import { holdsCredentials } from "../url-credentials";
import type { WrittenFlag } from "./written-flags";

export interface ModelInputs {
  readonly model: JsonObject;
  /** Variables that a model which is a folder leaves to vLLM. */
  readonly environment: Readonly<Record<string, string>>;
  /** Paths of its secrets. */
  readonly secrets: readonly string[];
}

/** @param word what names the model; null: nothing does. */
export function modelInputs(
  word: GivenWord | null,
  others: ReadonlyMap<string, WrittenFlag>,
  launch: Launch,
  notes: Notes,
): ModelInputs {
  const where = placeOf(word, launch, notes);
  const isFolder = "path" in where;
  const model: Record<string, JsonValue> = { ...where };
  const environment: Record<string, string> = {};
  const secrets: string[] = [];
  const revision = others.get("revision")?.values[0];
  if (revision !== undefined && !isFolder) readRevision(revision, model, notes);
  if (hasToken(others, launch, isFolder ? "environment.HF_TOKEN" : "model.token", notes)) {
    secrets.push(isFolder ? "environment.HF_TOKEN" : "model.token");
    if (isFolder) environment["HF_TOKEN"] = SECRET;
    else model["token"] = SECRET;
  }
  const endpoint = launch.environment.get("HF_ENDPOINT");
  if (endpoint !== undefined && endpoint.text !== "") {
    const path = isFolder ? "environment.HF_ENDPOINT" : "model.endpoint";
    const isSecret = isKnown(endpoint) && holdsCredentials(endpoint.text);
    if (isSecret) {
      tellSecret("HF_ENDPOINT", endpoint, path, notes);
      secrets.push(path);
    }
    if (!isKnown(endpoint)) notes.addUnknown(path, endpoint.text);
    else if (isFolder) environment["HF_ENDPOINT"] = isSecret ? SECRET : endpoint.text;
    else model["endpoint"] = isSecret ? SECRET : endpoint.text;
  }
  return { model, environment, secrets };
}

function placeOf(word: GivenWord | null, launch: Launch, notes: Notes): JsonObject {
  if (word === null || !isKnown(word)) {
    notes.addUnknown("model", word?.text ?? "the model");
    return {};
  }
  const { text } = word;
  if (isRepository(text)) return { repo: text };
  if (/^[\w-][\w.-]*\/[\w.-]+:[\w.-]+$/.test(text))
    throw new Rejected("gguf-quant-suffix", text, "name the file, or the repository with include");
  const path = hostPathOf(word, "model.path", launch, notes);
  if (path === null) return {};
  if (/\/models--[^/]+\/snapshots\//.test(path))
    notes.add("snapshot-path", "model.path", "a folder of the Hugging Face cache, of one revision; kept");
  return { path };
}

function readRevision(word: GivenWord, model: Record<string, JsonValue>, notes: Notes): void {
  if (!isKnown(word)) {
    notes.addUnknown("model.revision", word.text);
    return;
  }
  model["revision"] = word.text;
  if (!/^[0-9a-f]{40}$/i.test(word.text))
    notes.add(
      "branch-revision",
      "model.revision",
      "a branch or tag can move; pin the 40 hex digits of a commit",
    );
}

function hasToken(
  others: ReadonlyMap<string, WrittenFlag>,
  launch: Launch,
  inputPath: string,
  notes: Notes,
): boolean {
  const flag = others.get("hf-token")?.values[0];
  if (flag !== undefined && flag.text !== "") {
    if (isKnown(flag))
      notes.add(
        "secret-on-argv",
        "--hf-token",
        "visible to every user of the machine in the process list; change it",
      );
    else tellSecret("--hf-token", flag, inputPath, notes);
    return true;
  }
  for (const name of ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"]) {
    const word = launch.environment.get(name);
    if (word === undefined || word.text === "") continue;
    tellSecret(name, word, inputPath, notes);
    return true;
  }
  return false;
}

/** The name that clients know a folder by, where none is given; null: nothing has to be said. */
export function servedName(
  word: GivenWord | null,
  model: JsonObject,
  engine: JsonObject,
  flags: readonly WrittenFlag[],
  notes: Notes,
): readonly string[] | null {
  const isNamed = "servedModelName" in engine || flags.some(({ flag }) => flag === "served-model-name");
  if (word === null || !isKnown(word) || isNamed || "repo" in model) return null;
  notes.add("served-name", "engine.servedModelName", "clients know the model by its path; kept");
  return [word.text];
}
