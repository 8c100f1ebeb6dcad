import { z } from "zod";
import { boolean, choice, integer, isInteger, isText, leaf, MOST_SECONDS, number } from "./input-leaf";
import { MANAGERS, type ManagerWish, type ProbeKind, type Spec } from "./spec";

export const kvCacheDtypeSchema = leaf<string>(
  (value) =>
    typeof value === "string" && /^[A-Za-z0-9_]+$/.test(value)
      ? `vLLM's own name in small letters, here ${JSON.stringify(value.toLowerCase())}`
      : 'one of vLLM\'s names such as "auto", "bfloat16" or "fp8_e4m3"',
  (value) => typeof value === "string" && /^[a-z0-9_]+$/.test(value),
);

export const listenSchema = z.strictObject(
  {
    address: leaf<string>(
      "an IP address or a host name, without brackets, port and http://",
      isAddress,
    ).nullish(),
    port: integer("TCP port", 1, 65535).nullish(),
  },
  { error: 'an object such as { address: "127.0.0.1", port: 8000 }' },
);

function isAddress(value: unknown): boolean {
  if (typeof value !== "string" || value.length > 253) return false;
  if (/^[0-9A-Fa-f:.]+(?:%\w+)?$/.test(value) && value.split(":").length > 2) return true;
  if (/^[\d.]+$/.test(value)) return isIpv4(value);
  return /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?$/.test(value);
}

function isIpv4(value: string): boolean {
  const parts = value.split(".");
  return (
    parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
  );
}

export const apiKeySchema = leaf<string>(
  "text of printable ASCII characters without spaces, at least one",
  (value) => typeof value === "string" && /^[\x21-\x7e]+$/.test(value),
);

export const allowUnauthenticatedSchema = boolean();

export const gpusSchema = leaf<number | readonly (number | string)[]>(
  'a number of GPUs of at least 1, or a list of different indexes and UUIDs such as [0, 1] or ["GPU-..."]',
  (value) => isInteger(value, 1) || isGpuList(value),
);

function isGpuList(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  const isEachOne = value.every(
    (id) => isInteger(id, 0) || (isText(id) && /^GPU-[0-9A-Fa-f-]{8,}$/.test(id)),
  );
  return isEachOne && new Set(value).size === value.length;
}

const restartSchema = z.strictObject(
  {
    max: integer("automatic restarts within the window; 0 = never", 0).nullish(),
    withinSeconds: seconds().nullish(),
    delaySeconds: secondsOrNone().nullish(),
  },
  { error: "an object such as { max: 5, withinSeconds: 600, delaySeconds: 5 }" },
);

/** A start writes hundreds of lines: below a MiB its beginning could be gone before it has failed. */
const LEAST_LOG_BYTES = 2 ** 20;

const logsSchema = z.strictObject(
  {
    keep: integer("starts whose logs stay", 1, 1000).nullish(),
    maxBytes: integer("bytes of one log; 1 MiB = 1048576", LEAST_LOG_BYTES).nullish(),
  },
  { error: "an object such as { keep: 5, maxBytes: 104857600 }" },
);

export const serviceSchema = z.strictObject(
  {
    manager: choice<ManagerWish>(["auto", ...MANAGERS]).nullish(),
    startOnBoot: boolean().nullish(),
    restart: restartSchema.nullish(),
    logs: logsSchema.nullish(),
  },
  { error: 'an object such as { manager: "auto", restart: { max: 5 } }' },
);

/** Names below `service.restart` and `service.logs`. */
export const RESTART_NAMES: readonly string[] = Object.keys(restartSchema.shape);
export const LOGS_NAMES: readonly string[] = Object.keys(logsSchema.shape);

export const updateSchema = z.strictObject(
  { returnToLastGood: boolean().nullish() },
  { error: "an object such as { returnToLastGood: false }" },
);

export const onDeleteSchema = z.strictObject(
  {
    unreachableHost: choice<Spec["onDelete"]["unreachableHost"]>(["fail", "forget"]).nullish(),
    model: choice<Spec["onDelete"]["model"]>(["keep", "purge"]).nullish(),
  },
  { error: 'an object such as { unreachableHost: "forget" }' },
);

export const readinessSchema = z.strictObject(
  { probe: choice<ProbeKind>(["auto", "completion", "chat", "embedding", "health"]).nullish() },
  { error: 'an object such as { probe: "completion" }' },
);

function seconds(): z.ZodType<number> {
  return number(
    `seconds above 0, at most ${String(MOST_SECONDS)}`,
    (value) => value > 0 && value <= MOST_SECONDS,
  );
}

function secondsOrNone(): z.ZodType<number> {
  return number(
    `seconds of at least 0, at most ${String(MOST_SECONDS)}`,
    (value) => value >= 0 && value <= MOST_SECONDS,
  );
}

export const timeoutsSchema = z.strictObject(
  {
    connect: seconds().nullish(),
    install: seconds().nullish(),
    download: seconds().nullish(),
    ready: seconds().nullish(),
    stall: secondsOrNone().nullish(),
    stop: seconds().nullish(),
  },
  { error: "an object such as { ready: 3600 }" },
);
