"""The one way an operation of the agent fails on purpose."""

from __future__ import annotations

import traceback
from typing import Optional

_TRACEBACK_LINES = 12


class AgentFailure(Exception):
    """Becomes the error event of the request; `code` is an ErrorCode of core/errors.ts.

    `summary` reads "Cannot <verb> <object>: <found>, need <wanted>": one line, no secrets.
    """

    def __init__(
        self,
        code: str,
        summary: str,
        evidence: Optional[str] = None,
        change: Optional[str] = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(summary)
        self.code = code
        self.summary = summary
        self.evidence = evidence
        self.change = change
        self.retryable = retryable

    def to_error(self) -> dict[str, object]:
        """The error object of the protocol (agentErrorSchema)."""
        return {
            "code": self.code,
            "summary": self.summary,
            "evidence": self.evidence,
            "change": self.change,
            "retryable": self.retryable,
        }


def of_crash(who: str, error: BaseException) -> AgentFailure:
    """What nobody has foreseen, with the end of its traceback."""
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    told = "".join(lines).strip().splitlines()
    return AgentFailure(
        "AGENT_CRASHED",
        f"Cannot finish on the host: {who} met an unexpected {type(error).__name__}",
        evidence="\n".join(told[-_TRACEBACK_LINES:]),
    )
