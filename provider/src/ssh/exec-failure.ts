import { VllmServerError } from "../core/errors";

/** The ways a command on a logged-in connection fails. `label`: user@host:port. */

export function connectionLost(label: string, reason: string | null): VllmServerError {
  return new VllmServerError({
    code: "CONNECTION_LOST",
    summary: `Cannot finish the command on ${label}: the SSH connection broke, need one that lasts`,
    evidence: reason ?? undefined,
    change: "run it again: what was done stays, and the next run goes on from there",
    retryable: true,
  });
}

export function commandLate(label: string, seconds: number): VllmServerError {
  return new VllmServerError({
    code: "AGENT_DEADLINE",
    summary: `Cannot finish the command on ${label}: no end within ${String(seconds)} s, need a host that is less busy`,
    change: "run it again: what was done stays, and the next run goes on from there",
    retryable: true,
  });
}

/** Refused even while no other session was open. */
export function noSession(label: string): VllmServerError {
  return new VllmServerError({
    code: "CONNECTION_LOST",
    summary: `Cannot run a command on ${label}: the host opens no session, need an account that may run commands over SSH`,
    change: "host.user, or MaxSessions in the host's sshd_config",
    retryable: true,
  });
}

export function refusesCommands(label: string, answer: string): VllmServerError {
  return new VllmServerError({
    code: "PERMISSION_DENIED",
    summary: `Cannot run a command on ${label}: the host refuses commands, need an account that may run commands over SSH`,
    evidence: answer,
    change: "host.user, or what the host's sshd_config allows this account",
    retryable: false,
  });
}
