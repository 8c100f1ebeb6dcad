export type LogLevel = "DEBUG" | "INFO" | "WARNING" | "ERROR" | "CRITICAL";

/** One line of a vLLM log without what loggers, containers and terminals put around it. */
export interface LogLine {
  /** As it stands in the log, without colours. */
  readonly raw: string;
  /** The message alone, with its own indentation. */
  readonly text: string;
  readonly level: LogLevel | null;
  /** "worker 3", "engine core", "API server"; null: not told. */
  readonly place: string | null;
}

const COLOURS = /\u001b\[[0-9;?]*[A-Za-z]/g;

/** What others put in front of vLLM's lines. */
const OUTER_PREFIXES: readonly RegExp[] = [
  /^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[\d.]*Z?\] /, // build systems
  /^\[pod\/[^\]]+\] /, // kubectl logs --prefix
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[\d.]*(?:Z|[+-]\d\d:?\d\d) (?:(?:stdout|stderr) [FP] )?/, // Kubernetes, docker logs -t
  /^(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? )?[\w.-]+ [^\s[()]+\[\d+\]: /, // journald; its ISO time is taken above
  /^[\w.-]+ +\| /, // docker compose
];

/**
 * "(EngineCore pid=9) ", "(VllmWorker rank=5 pid=9) ", "(VllmWorker TP5 pid=9) "; a process inside another one has both in front.
 * Source: vllm 0.32.0 logger.py:30, v1/executor/multiproc_executor.py; older names 0.6 to 0.18.
 */
const PROCESS_PREFIX =
  /^\((?<name>[\w:.-]+(?: (?:DP|PP|TP|EP)\w+)?)(?: rank=(?<rank>\d+))? pid=(?<pid>\d+)(?:, ip=(?<ip>[^)]*))?\) ?/;
/** What Ray puts before lines of its own processes. */
const RAY_PREFIX = /^\((?:raylet|autoscaler|pid=\d+)(?:, ip=[^)]*)?\) ?/;

/** "ERROR 12-07 16:59:00 [core.py:867] " or, to 0.8, "ERROR 12-07 16:59:00 core.py:867] ". */
const VLLM_LEVEL =
  /^(?<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)? (?:\[[^\]]*\]|[\w./-]+:\d+\]) ?/;
/** Uvicorn: "INFO:     Started ..."; Ray: "2023-11-24 09:02:17,881<tab>WARNING services.py:1996 -- "; FlashInfer: "2026-03-08 16:44:29,692 - WARNING - autotuner.py:485 - flashinfer.jit: ". */
const OTHER_LEVEL =
  /^(?:(?<uvicorn>DEBUG|INFO|WARNING|ERROR|CRITICAL): +|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+(?:\s+(?<ray>DEBUG|INFO|WARNING|ERROR|CRITICAL) \S+ -- | - (?<plain>DEBUG|INFO|WARNING|ERROR|CRITICAL) - (?:\S+ - )*(?:[\w.]+: )?))/;
const WARNING_WORDS = /^(?:\[rank\d+\]:)?\[W\d|\b(?:User|Runtime|Future|Deprecation)Warning: |\] Warning: /;
/** An exception told inside another one is indented as source code is. Source: huggingface_hub errors.py, StrictDataclassError. */
const INNER_EXCEPTION = /^ {4}(?=[A-Z]\w*(?:Error|Exception): )/;
const RANK_PREFIX = /^\[rank(?<rank>\d+)\]:(?: |(?=\[[EWI]\d))/;

export function readLogLine(line: string): LogLine {
  const raw = line.replace(COLOURS, "").trimEnd();
  const prefixed = withoutPrefixes(raw);
  const { process } = prefixed;
  let { text } = prefixed;
  const rank = RANK_PREFIX.exec(text);
  if (rank?.[0].endsWith(" ") === true) text = text.slice(rank[0].length);
  const level = VLLM_LEVEL.exec(text) ?? OTHER_LEVEL.exec(text);
  const word =
    ["level", "uvicorn", "ray", "plain"]
      .map((name) => level?.groups?.[name])
      .find((one) => one !== undefined) ?? null;
  if (level !== null) text = text.slice(level[0].length);
  text = text.replace(INNER_EXCEPTION, "  ");
  return {
    raw,
    text,
    level: isLevel(word) ? word : WARNING_WORDS.test(text) ? "WARNING" : null,
    place: placeOf(
      process?.groups?.["name"] ?? null,
      process?.groups?.["rank"] ?? rank?.groups?.["rank"] ?? null,
      process?.groups?.["ip"],
    ),
  };
}

/** Each may be put around another: a compose of containers whose lines have times, say. */
const MOST_OUTER_PREFIXES = 4;

function withoutPrefixes(raw: string): { readonly text: string; readonly process: RegExpExecArray | null } {
  let text = raw;
  for (let round = 0; round < MOST_OUTER_PREFIXES; round++) {
    const shorter = OUTER_PREFIXES.reduce((rest, prefix) => rest.replace(prefix, ""), text);
    if (shorter === text) break;
    text = shorter;
  }
  let process: RegExpExecArray | null = null;
  for (;;) {
    const next = PROCESS_PREFIX.exec(text);
    process = next ?? process;
    const length = (next ?? RAY_PREFIX.exec(text))?.[0].length ?? 0;
    if (length === 0) break;
    text = text.slice(length);
  }
  return { text, process };
}

/**
 * The lines inside one record of a JSON logger (vllm 0.32.0 --logging-config formatter json, others) or of docker's files; null: it is
 * none. vLLM puts its process in front of whatever is printed, of such records too.
 */
export function readJsonRecord(line: string): readonly LogLine[] | null {
  if (!line.includes("{")) return null;
  const { text: json, process } = withoutPrefixes(line.replace(COLOURS, "").trimEnd());
  if (!json.startsWith("{")) return null;
  let record: unknown;
  try {
    record = JSON.parse(json);
  } catch {
    return null;
  }
  if (record === null || typeof record !== "object" || Array.isArray(record)) return null;
  const fields = new Map<string, unknown>(Object.entries(record));
  const field = (...names: readonly string[]): string | null => {
    const found = names.map((name) => fields.get(name)).find((value) => typeof value === "string");
    return typeof found === "string" ? found : null;
  };
  const printed = field("log");
  if (printed !== null) {
    return printed
      .trimEnd()
      .split(/\r\n|[\r\n]/)
      .flatMap((inner) => readJsonRecord(inner) ?? [readLogLine(inner)]);
  }
  const message = field("message", "msg", "event");
  if (message === null) return null;
  const level = field("levelname", "level", "severity")?.toUpperCase() ?? null;
  const name = field("vllm_process_name", "processName") ?? process?.groups?.["name"] ?? null;
  const body = [message, field("exc_info", "exception", "traceback")]
    .filter((part) => part !== null)
    .join("\n");
  return body.split(/\r\n|[\r\n]/).map((text) => {
    const inner = readLogLine(text);
    return {
      ...inner,
      level: inner.level ?? (isLevel(level) ? level : null),
      place: inner.place ?? placeOf(name, null, undefined),
    };
  });
}

function isLevel(word: string | null): word is LogLevel {
  return word === "DEBUG" || word === "INFO" || word === "WARNING" || word === "ERROR" || word === "CRITICAL";
}

/** "Worker_TP3", "VllmWorker rank=5", "EngineCore_DP1", "APIServer_0" in the words a user reads. */
function placeOf(name: string | null, rank: string | null, ip: string | undefined): string | null {
  if (name === null) return rank === null ? null : `worker ${rank}`;
  if (name.startsWith("APIServer") || name.startsWith("ApiServer")) return "API server";
  if (name.startsWith("EngineCore")) {
    const data = /_(?:DP)?([1-9]\d*)/.exec(name)?.[1];
    return data === undefined ? "engine core" : `engine core ${data}`;
  }
  if (name.startsWith("Ray")) return ip === undefined ? "Ray worker" : `Ray worker on ${ip}`;
  if (/worker/i.test(name)) {
    const number = rank ?? /(?:TP|rank|Worker[_-])(\d+)/.exec(name)?.[1] ?? null;
    const parts = name.match(/(?:DP|PP|TP)\d+/g) ?? [];
    if (rank === null && parts.some((part) => !part.startsWith("TP"))) return `worker ${parts.join(" ")}`;
    return number === null ? "worker" : `worker ${number}`;
  }
  return name;
}
