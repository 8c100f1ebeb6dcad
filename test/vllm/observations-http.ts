import { startSeconds } from "./observations-proc";

/** What a ready server answers, without what differs from run to run. */

export const KEY = "contract-key";
export const FINGERPRINT = "contract-fingerprint";
/** Both servers get this name list; the first is the name, the second an alias. */
export const NAMES = ["tiny", "tiny-alias"];

const COMPLETION = { model: "tiny", prompt: [1, 2, 3], max_tokens: 1, detokenize: false };
/** Labels of vllm:cache_config_info that do not depend on the machine. */
const CACHE_LABELS = ["cache_dtype", "enable_prefix_caching", "gpu_memory_utilization", "block_size"];

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function ask(
  port: number,
  path: string,
  options: { readonly key?: string; readonly post?: unknown } = {},
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: {
      "content-type": "application/json",
      ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
    },
    ...(options.post === undefined ? {} : { method: "POST", body: JSON.stringify(options.post) }),
  });
  const text = await response.text();
  return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
}

/** Every name in a JSON value, as sorted paths; list items share one path. */
function shapeOf(value: unknown, path = ""): readonly string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => shapeOf(item, `${path}[]`)))].sort();
  if (typeof value !== "object" || value === null)
    return [`${path}: ${value === null ? "null" : typeof value}`];
  return Object.entries(value)
    .flatMap(([key, inner]) => shapeOf(inner, path === "" ? key : `${path}.${key}`))
    .sort();
}

export async function observeModels(port: number, modelFolder: string): Promise<unknown> {
  const { status, body } = await ask(port, "/v1/models", { key: KEY });
  const { data } = body as { data: { id: string; root: string; max_model_len: number }[] };
  return {
    status,
    models: data.map((model) => ({
      id: model.id,
      rootIsTheModelGiven: model.root === modelFolder,
      maxModelLen: model.max_model_len,
    })),
    shape: shapeOf(body),
  };
}

export async function observeCompletion(port: number): Promise<unknown> {
  const { status, body } = await ask(port, "/v1/completions", { key: KEY, post: COMPLETION });
  const { model, choices, usage, system_fingerprint } = body as Readonly<Record<string, unknown>>;
  const first = (choices as Readonly<Record<string, unknown>>[])[0] ?? {};
  return {
    status,
    model,
    fingerprint: system_fingerprint,
    text: first["text"],
    finishReason: first["finish_reason"],
    usage: shapeOf(usage),
    shape: shapeOf(body),
  };
}

/** Requests that are refused, with the refusal's own words. */
export async function observeRefusals(port: number): Promise<unknown> {
  const post = (path: string, body: object): Promise<Answer> => ask(port, path, { key: KEY, post: body });
  return {
    unknownModel: await post("/v1/completions", { ...COMPLETION, model: "nope" }),
    textWithoutTokenizer: await post("/v1/completions", { model: "tiny", prompt: "hi", max_tokens: 1 }),
    noPrompt: await post("/v1/completions", { model: "tiny" }),
    chatWithoutTokenizer: await post("/v1/chat/completions", {
      model: "tiny",
      messages: [{ role: "user", content: "hi" }],
    }),
    embeddingsOfAGeneratingServer: await post("/v1/embeddings", { model: "tiny", input: [1, 2] }),
    wrongMethod: await ask(port, "/v1/completions", { key: KEY }),
    unknownPath: await ask(port, "/nope"),
  };
}

/** Status with no key, with a wrong one and with the right one: the key guards /v1 and nothing else. */
export async function observeKeyGuard(port: number): Promise<unknown> {
  const paths: readonly (readonly [string, unknown])[] = [
    ["/health", undefined],
    ["/ping", undefined],
    ["/version", undefined],
    ["/metrics", undefined],
    ["/openapi.json", undefined],
    ["/v1/models", undefined],
    ["/v1/completions", COMPLETION],
    ["/invocations", COMPLETION],
  ];
  const rows = await Promise.all(
    paths.map(async ([path, post]) => {
      const status = async (key?: string): Promise<number> =>
        (await ask(port, path, { ...(key === undefined ? {} : { key }), post })).status;
      return [path, [await status(), await status("wrong"), await status(KEY)]] as const;
    }),
  );
  return { ...Object.fromEntries(rows), refusal: (await ask(port, "/v1/models")).body };
}

export async function observeRoutes(port: number): Promise<unknown> {
  const { body } = await ask(port, "/openapi.json");
  const { info, paths } = body as { info: unknown; paths: Readonly<Record<string, object>> };
  return { info, version: (await ask(port, "/version")).body, paths: Object.keys(paths).sort() };
}

export async function observeMetrics(port: number, leader: number): Promise<unknown> {
  const { body } = await ask(port, "/metrics");
  const text = String(body);
  const labels = /^vllm:cache_config_info\{(.*)\} 1\.0$/m.exec(text)?.[1] ?? "";
  const value = (label: string): string | undefined =>
    new RegExp(`(?:^|,)${label}="([^"]*)"`).exec(labels)?.[1];
  const started = Number(/^process_start_time_seconds (\S+)$/m.exec(text)?.[1]);
  return {
    cacheConfig: Object.fromEntries(CACHE_LABELS.map((label) => [label, value(label)])),
    tellsKvCacheSize: Number(value("kv_cache_size_tokens")) > 0,
    startTimeIsTheLeaders: Math.abs(started - startSeconds(leader)) < 1.5,
  };
}
