import type { JsonObject } from "../json";
import { engineInputs } from "./engine-inputs";
import { environmentInputs, SECRET, tellSecret } from "./environment-inputs";
import { type GivenWord, isKnown } from "./given-word";
import type { Launch } from "./launch";
import { gpuInputs } from "./gpu-inputs";
import { hideSecrets } from "./hidden-secrets";
import { listenInputs } from "./listen-inputs";
import { modelInputs, servedName } from "./model-inputs";
import { type Notes, Rejected } from "./note";
import { withPaths } from "./path-inputs";
import { hostPathOf, plainPath } from "./paths";
import { type WrittenFlag, writtenFlags } from "./written-flags";

/** Inputs of VllmServer without `host`; "<secret>" stands for every secret. */
export interface ServerInputs {
  readonly inputs: JsonObject;
  /** Paths of the secrets. */
  readonly secrets: readonly string[];
}

/** Flags that are inputs outside `engine` and `extraArgs`. */
const OTHERS: ReadonlySet<string> = new Set([
  ...[
    "model",
    "revision",
    "host",
    "port",
    "api-key",
    "hf-token",
    "download-dir",
    "kv-cache-dtype",
    "device-ids",
  ],
]);

/** One of these, and there is more than one machine. */
const MULTI_NODE: ReadonlySet<string> = new Set([
  ...["headless", "nnodes", "node-rank", "master-addr", "data-parallel-address"],
  ...["data-parallel-size-local", "data-parallel-rank", "data-parallel-start-rank"],
  ...["data-parallel-hybrid-lb", "data-parallel-external-lb"],
]);

/** What a launch says as inputs. Fails with Rejected where it is no single server. */
export function serverInputs(launch: Launch, notes: Notes): ServerInputs {
  const { positionals, flags } = writtenFlags(launch.words, notes);
  refuseMultiNode(flags);
  const others = new Map<string, WrittenFlag>();
  for (const flag of flags.filter((each) => OTHERS.has(each.flag))) {
    if (others.has(flag.flag) && flag.flag !== "model")
      notes.add("repeated-flag", `--${flag.flag}`, "given more than once; the last one counts");
    others.set(flag.flag, flag);
  }
  const named = modelWord(positionals, flags, notes);
  const environment = environmentInputs(launch, notes);
  const placed = engineInputs(
    flags.filter((each) => !OTHERS.has(each.flag)),
    launch.version,
    notes,
  );
  const { values: engine, secrets: engineSecrets } = hideSecrets(
    withPaths(placed.engine, "engine", launch, notes),
    "engine",
    notes,
  );
  const { values: extraArgs, secrets: extraSecrets } = hideSecrets(
    withPaths(placed.extraArgs, "extraArgs", launch, notes),
    "extraArgs",
    notes,
  );
  const model = modelInputs(named, others, launch, notes);
  const served = servedName(named, model.model, engine, flags, notes);
  const backend = environment.attentionBackend;
  const apiKey = apiKeyOf(others, launch, notes);
  const { listen, isOpen } = listenInputs(others, launch, notes);
  if (isOpen && !apiKey)
    notes.add("open-without-key", "listen.address", "needs apiKey or allowUnauthenticated");
  tellRest(engine, extraArgs, notes);
  const inputs = {
    model: model.model,
    ...kvCacheDtype(others, notes),
    engine: {
      ...engine,
      ...(served === null ? {} : { servedModelName: served }),
      ...(backend === null || "attentionBackend" in engine ? {} : { attentionBackend: backend }),
    },
    extraArgs,
    environment: {
      ...environment.environment,
      ...model.environment,
      ...downloadFolder(others, launch, notes),
    },
    ...(Object.keys(placed.configOverrides).length === 0 ? {} : { configOverrides: placed.configOverrides }),
    ...gpuInputs(others, launch, notes),
    ...(Object.keys(listen).length === 0 ? {} : { listen }),
    ...(apiKey ? { apiKey: SECRET } : {}),
    ...vllm(launch, notes),
  };
  const secrets = [
    ...(apiKey ? ["apiKey"] : []),
    ...model.secrets,
    ...environment.secrets.map((name) => `environment.${name}`),
    ...engineSecrets,
    ...extraSecrets,
  ];
  return { inputs, secrets: [...new Set(secrets)].sort() };
}

function refuseMultiNode(flags: readonly WrittenFlag[]): void {
  const several = [
    ...new Set(flags.filter(({ flag }) => MULTI_NODE.has(flag)).map(({ flag }) => `--${flag}`)),
  ];
  if (several.length > 0)
    throw new Rejected(
      "multi-node",
      several.join(" "),
      "servers over several machines are not supported yet",
    );
}

function modelWord(
  positionals: readonly GivenWord[],
  flags: readonly WrittenFlag[],
  notes: Notes,
): GivenWord | null {
  const byFlag = flags.filter(({ flag }) => flag === "model").at(-1)?.values[0] ?? null;
  const [first = null, ...rest] = positionals;
  const model = byFlag ?? first;
  const left = byFlag === null ? rest : positionals;
  for (const word of left) {
    if (!isKnown(word)) notes.addUnknown("extraArgs", word.text);
    else if (word === first)
      throw new Rejected("model-twice", "model", `${word.text} and --model ${byFlag?.text ?? ""}`);
    else throw new Rejected("stray-word", word.text, `${word.text} belongs to no flag`);
  }
  return model;
}

function kvCacheDtype(others: ReadonlyMap<string, WrittenFlag>, notes: Notes): JsonObject {
  const word = others.get("kv-cache-dtype")?.values[0];
  if (word === undefined) return {};
  if (isKnown(word)) return { kvCacheDtype: word.text };
  notes.addUnknown("kvCacheDtype", word.text);
  return {};
}

function apiKeyOf(others: ReadonlyMap<string, WrittenFlag>, launch: Launch, notes: Notes): boolean {
  const words = others.get("api-key")?.values ?? [];
  const [word] = words;
  if (words.length > 1)
    notes.add("several-keys", "--api-key", "the resource has one key; the first of them is asked for");
  if (word !== undefined && word.text !== "") {
    if (isKnown(word))
      notes.add(
        "api-key-on-argv",
        "--api-key",
        "visible to every user of the machine in the process list; moved to apiKey, change it",
      );
    else tellSecret("--api-key", word, "apiKey", notes);
    return true;
  }
  const variable = launch.environment.get("VLLM_API_KEY");
  if (variable === undefined || variable.text === "") return false;
  tellSecret("VLLM_API_KEY", variable, "apiKey", notes);
  return true;
}

function downloadFolder(others: ReadonlyMap<string, WrittenFlag>, launch: Launch, notes: Notes): JsonObject {
  const word = others.get("download-dir")?.values[0];
  if (word === undefined) return {};
  notes.add("moved-flag", "--download-dir", "the resource downloads; HF_HUB_CACHE is the same folder layout");
  const path = hostPathOf(word, "environment.HF_HUB_CACHE", launch, notes);
  return path === null ? {} : { HF_HUB_CACHE: path };
}

function vllm(launch: Launch, notes: Notes): JsonObject {
  if (launch.version !== null) return { vllm: { version: launch.version } };
  const { executable } = launch;
  if (executable === null || launch.container !== null) return {};
  const path = hostPathOf(
    { ...executable, text: plainPath(executable.text) },
    "vllm.executable",
    launch,
    notes,
  );
  return path === null ? {} : { vllm: { executable: path } };
}

function tellRest(engine: JsonObject, extraArgs: JsonObject, notes: Notes): void {
  if (engine["distributedExecutorBackend"] === "ray")
    notes.add(
      "ray",
      "engine.distributedExecutorBackend",
      "Ray must already run; its workers are outside the unit",
    );
  if ("ssl-certfile" in extraArgs || "ssl-keyfile" in extraArgs)
    notes.add(
      "tls",
      "extraArgs.ssl-certfile",
      "HTTPS of vLLM itself is not supported yet; put a proxy in front",
    );
}
