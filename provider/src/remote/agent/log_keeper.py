"""The logs of one server in its supervisor's hands: few enough, and none too big. Nothing here ends the supervision."""

from __future__ import annotations

from typing import Optional

from agent import log_bound, log_policy, logs

# A log above this share of its bound soon has to be looked at again.
_NEARLY_FULL = 0.75


class LogKeeper:
    """Asks the policy each time: it may have changed since. `declared` is what the start was asked for with."""

    def __init__(self, server_id: str, declared: log_policy.LogPolicy) -> None:
        self._server_id = server_id
        self._declared = declared

    def make_room(self, first_failure: Optional[int]) -> None:
        """Before the log of one more start."""
        logs.keep_newest(self._server_id, self._policy().keep - 1, first_failure)

    def bound(self, generation: int) -> bool:
        """Whether the log is nearly as big as it may be."""
        path = logs.path(self._server_id, generation)
        most = self._policy().max_bytes
        try:
            log_bound.bound(path, most)
            return path.stat().st_size > most * _NEARLY_FULL
        except OSError:
            return False

    def _policy(self) -> log_policy.LogPolicy:
        return log_policy.current(self._server_id, self._declared)
