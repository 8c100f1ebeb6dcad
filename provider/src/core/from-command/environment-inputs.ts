import { z } from "zod";
import { isOwnedVariable } from "../input-environment";
import { holdsCredentials } from "../url-credentials";
import envNames from "../vllm-env-names-0.32.json";
import { isEarlier } from "./version-order";
import { type GivenWord, isKnown, isName } from "./given-word";
import type { Launch } from "./launch";
import type { Notes } from "./note";
import { hostPathOf, throughMounts } from "./paths";

/** Stands for every secret: none is in what is printed. */
export const SECRET = "<secret>";

const READ_BY_032: ReadonlySet<string> = new Set(
  z.object({ names: z.array(z.string()) }).parse(envNames).names,
);

/** Variables that are inputs of another place, or none at all. */
const OTHERS =
  /^(?:CUDA_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|NVIDIA_\w+|HF_TOKEN|HUGGING_FACE_HUB_TOKEN|HF_ENDPOINT|VLLM_API_KEY)$/;
/** Source: variables of ROCm, Ascend and vLLM's own CPU build. */
const OTHER_ACCELERATOR = /^(?:HIP_|ROCR_|HSA_|ASCEND_|HCCL_|VLLM_ROCM_|VLLM_CPU_)/;
/** Words of a name: TOKENIZERS_PARALLELISM and TIKTOKEN_ENCODINGS_BASE speak of no secret. */
const SECRET_NAME =
  /(?:^|_)(?:TOKEN|(?:API|ACCESS|PRIVATE)?KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL)S?(?:_|$)/i;
/** Folders that the programs themselves look for ~ in. */
const FOLDERS: ReadonlySet<string> = new Set(["HF_HOME", "HF_HUB_CACHE"]);

export interface EnvironmentInputs {
  readonly environment: Readonly<Record<string, string>>;
  /** Names whose values are secrets. */
  readonly secrets: readonly string[];
  /** From a variable that vLLM no longer reads; null: none. */
  readonly attentionBackend: string | null;
}

/** First version without VLLM_ATTENTION_BACKEND. */
const BACKEND_FLAG_SINCE = "0.15.0";
/** Names of backends that are others today. Source: vllm-project/vllm v1/attention/backends/registry. */
const BACKENDS: ReadonlyMap<string, string> = new Map([["TRITON_ATTN_VLLM_V1", "TRITON_ATTN"]]);

export function environmentInputs(launch: Launch, notes: Notes): EnvironmentInputs {
  const environment: Record<string, string> = {};
  const secrets: string[] = [];
  let attentionBackend: string | null = null;
  for (const [name, word] of launch.environment) {
    if (OTHERS.test(name)) continue;
    if (
      name === "VLLM_ATTENTION_BACKEND" &&
      (launch.version === null || !isEarlier(launch.version, BACKEND_FLAG_SINCE))
    ) {
      notes.add("renamed-env", name, `gone since ${BACKEND_FLAG_SINCE}, is --attention-backend`);
      if (isKnown(word)) attentionBackend = BACKENDS.get(word.text) ?? word.text;
      else notes.addUnknown("engine.attentionBackend", word.text);
    } else if (name.startsWith("VLLM_") && !READ_BY_032.has(name) && launch.version === null) {
      notes.add("removed-env", name, "0.32 does not read it; left out");
    } else if (isOwnedVariable(name)) {
      notes.add("owned-env", name, "the resource sets it itself; left out");
    } else {
      const value = valueOf(name, word, launch, notes);
      if (value === null) continue;
      environment[name] = value;
      if (value === SECRET) secrets.push(name);
      tellUse(name, word, notes);
    }
  }
  return {
    environment: { ...environment, ...cacheFolder(launch, environment, notes) },
    secrets,
    attentionBackend,
  };
}

function valueOf(name: string, word: GivenWord, launch: Launch, notes: Notes): string | null {
  const path = `environment.${name}`;
  if (SECRET_NAME.test(name) || (isKnown(word) && holdsCredentials(word.text))) {
    if (word.text === "") return null;
    tellSecret(name, word, path, notes);
    return SECRET;
  }
  if (FOLDERS.has(name)) return hostPathOf(word, path, launch, notes);
  if (isKnown(word)) return word.text;
  notes.addUnknown(path, word.text);
  return null;
}

/** @param inputPath where the secret becomes an input. */
export function tellSecret(name: string, word: GivenWord, inputPath: string, notes: Notes): void {
  const [unknown] = word.unknown;
  if (unknown === undefined)
    notes.add(
      "secret-in-text",
      name,
      "a secret in plain text; set it with pulumi config set --secret, and change it",
    );
  else if (isName(unknown))
    notes.add("secret-from-variable", unknown, "its value must be set as a Pulumi secret");
  else notes.add("needs-value", inputPath, "a secret that a command gave");
}

function tellUse(name: string, word: GivenWord, notes: Notes): void {
  if (OTHER_ACCELERATOR.test(name)) notes.add("other-accelerator", name, "not an NVIDIA GPU");
  if (name === "VLLM_USE_MODELSCOPE" && /^(?:1|true)$/i.test(word.text))
    notes.add("modelscope", "model", "weights came from ModelScope, not Hugging Face");
}

const DEFAULT_CACHE = "~/.cache/huggingface";

/** A mounted cache of Hugging Face that is not where the host's own would be. */
function cacheFolder(
  launch: Launch,
  given: Readonly<Record<string, string>>,
  notes: Notes,
): Readonly<Record<string, string>> {
  if (launch.container === null || launch.environment.has("HF_HOME")) return {};
  const folder = throughMounts("/root/.cache/huggingface", launch.container.mounts);
  if (folder === null) return hubFolder(launch, given, notes);
  if (folder.text === DEFAULT_CACHE) return {};
  if (!isKnown(folder)) {
    notes.addUnknown("environment.HF_HOME", folder.text);
    return {};
  }
  notes.add("mount", "environment.HF_HOME", "the cache folder that was mounted into the container");
  if (!/^[/~]/.test(folder.text))
    notes.add("relative-path", "environment.HF_HOME", "was relative to the folder the command ran in");
  return { HF_HOME: folder.text };
}

/** Only the part below `hub` was mounted. */
function hubFolder(
  { container }: Launch,
  given: Readonly<Record<string, string>>,
  notes: Notes,
): Readonly<Record<string, string>> {
  const folder = throughMounts("/root/.cache/huggingface/hub", container?.mounts ?? []);
  if (
    folder === null ||
    !isKnown(folder) ||
    folder.text === `${DEFAULT_CACHE}/hub` ||
    "HF_HUB_CACHE" in given
  )
    return {};
  notes.add("mount", "environment.HF_HUB_CACHE", "the cache folder that was mounted into the container");
  return { HF_HUB_CACHE: folder.text };
}
