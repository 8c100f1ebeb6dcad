import type { ErrorCode } from "../core/errors";

/** The closed list of core/errors.ts as values: what an agent may answer. The compiler keeps the two alike. */
const CODES = {
  INPUT_INVALID: true,
  HOST_UNREACHABLE: true,
  HOST_KEY_UNKNOWN: true,
  HOST_KEY_CHANGED: true,
  HOST_KEY_REVOKED: true,
  AUTHENTICATION_FAILED: true,
  CONNECTION_LOST: true,
  PYTHON_MISSING: true,
  PYTHON_TOO_OLD: true,
  AGENT_REPLY_BROKEN: true,
  AGENT_DEADLINE: true,
  AGENT_CRASHED: true,
  DISK_FULL: true,
  PERMISSION_DENIED: true,
  VLLM_NOT_FOUND: true,
  FLAG_UNKNOWN: true,
  CHECKPOINT_NOT_FOUND: true,
  CONFIG_PATCH_REJECTED: true,
  GPU_NOT_FOUND: true,
  GPUS_NOT_FREE: true,
  PORT_IN_USE: true,
  PORT_LOST: true,
  HOST_LOCKED: true,
  CHANGED_MEANWHILE: true,
  OWNED_BY_ANOTHER: true,
  START_FAILED: true,
  START_TIMEOUT: true,
  STOP_INCOMPLETE: true,
  GPU_MEMORY_HELD: true,
  SERVER_REPLACED: true,
} as const satisfies Readonly<Record<ErrorCode, true>>;

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(CODES, text);
}
