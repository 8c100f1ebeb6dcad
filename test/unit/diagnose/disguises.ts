/** What loggers, terminals, containers and other processes do to a log. None of it changes what the log says. */
export type Disguise = (log: string) => string;

const perLine =
  (change: (line: string, index: number) => string): Disguise =>
  (log) =>
    log.split("\n").map(change).join("\n");

const inFront = (text: string): Disguise => perLine((line) => `${text}${line}`);

/** What other ranks and the API server print meanwhile. */
const MEANWHILE = [
  "(Worker_TP5 pid=905) INFO 12-01 10:00:07 [shm_broadcast.py:1] No available shared memory broadcast block found in 60 seconds.",
  "(Worker_TP6 pid=906) INFO 12-01 10:00:07 [gpu_model_runner.py:1] Encoder cache will be initialized with a budget of 2048 tokens.",
  "(APIServer pid=901) DEBUG 12-01 10:00:07 [utils.py:1] Waiting for 1 local, 0 remote core engine proc(s) to start.",
] as const;

const OWN_PROCESS = /^\((?:EngineCore|Worker|VllmWorker)[\w ]*(?: rank=\d+)? pid=\d+\)/;

/** A record of a JSON logger for each line, as vLLM's own formatter or a library writes it. */
const asJson = (names: { readonly level: string; readonly message: string }, prefix = ""): Disguise =>
  perLine((line) => {
    const level = /\b(DEBUG|INFO|WARNING|ERROR|CRITICAL)\b/.exec(line)?.[1] ?? "ERROR";
    return `${prefix}${JSON.stringify({ asctime: "x", [names.level]: level, [names.message]: line })}`;
  });

/** What processes and terminals print beside. */
export const NOISE: Readonly<Record<string, Disguise>> = {
  colours: (log) =>
    log
      .replace(/\b(ERROR|INFO|WARNING)\b/g, "\u001b[31m$1\u001b[0m")
      .replace(/^(\([^)]*\)) /gm, "\u001b[1;36m$1\u001b[0m "),
  "a progress bar in front of lines": perLine((line) => `Loading:  10%|█\rLoading:  20%|██\r${line}`),
  "lines of other ranks in between": perLine(
    (line, index) => `${line}\n${MEANWHILE[index % MEANWHILE.length] ?? ""}`,
  ),
  "eight ranks that say the same, line by line": perLine((line) =>
    OWN_PROCESS.test(line)
      ? Array.from({ length: 8 }, (_unused, rank) =>
          line.replace(/pid=(\d+)/, (_all, pid: string) => `pid=${String(Number(pid) + 1000 * rank)}`),
        ).join("\n")
      : line,
  ),
};

/** How lines are written by a logger. */
export const LOGGERS: Readonly<Record<string, Disguise>> = {
  "records of vLLM's JSON logger": asJson({ level: "levelname", message: "message" }),
  "records of another JSON logger": asJson({ level: "severity", message: "msg" }),
  "records of a JSON logger behind vLLM's own prefix": asJson(
    { level: "levelname", message: "message" },
    "(EngineCore pid=180) ",
  ),
};

/** What whoever keeps the log puts around it. */
export const CONTAINERS: Readonly<Record<string, Disguise>> = {
  "CRLF line ends": (log) => log.replaceAll("\n", "\r\n"),
  "time stamps of containerd": inFront("2026-12-01T10:00:00.123456789Z stderr F "),
  "time stamps of kubectl": inFront("2026-12-01T10:00:00.123456789Z "),
  "pods of kubectl": inFront("[pod/vllm-0/server] "),
  "journald in front": inFront("Dec 01 10:00:00 gpu1 vllm[4242]: "),
  "journald with ISO time in front": inFront("2026-12-01T10:00:00.123456+01:00 gpu1 vllm[4242]: "),
  "compose in front": inFront("vllm-1  | "),
  "compose with time stamps in front": inFront("vllm-1  | 2026-12-01T10:00:00.123456789Z "),
  "docker's files": perLine((line) =>
    JSON.stringify({ log: `${line}\n`, stream: "stderr", time: "2026-12-01T10:00:00.1Z" }),
  ),
};
