"""Keeps the hub's client at it until every file is there: watches it for stalls, starts it again, reads what it says."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional

from agent import hf_words, hub_flow, hub_room, job_children, records
from agent.failure import AgentFailure
from agent.hf_client import Call
from agent.hub_cache import File, Snapshot

LOOK_SECONDS = 0.5
# Without a byte for stallSeconds, so many times in a row without a new file in between; the last time without Xet.
STALLS = 3
# Between failures that can pass (the hub restarts, a name does not resolve), likewise; then it is an error.
PAUSES_SECONDS = (1.0, 2.0, 4.0, 8.0, 16.0)
LOG_TAIL_BYTES = 16 * 1024
Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Download:
    call: Call
    snapshot: Snapshot
    # All of the checkpoint, for the progress; those that are not there are fetched.
    files: Sequence[File]
    title: str
    stall_seconds: float
    log: Path

    def run(self, report: Report) -> None:
        """Returns when every file is there. Raises DOWNLOAD_STALLED, DISK_FULL, DOWNLOAD_FAILED or what the hub refused with."""
        rate = hub_flow.Rate()
        stalls = failures = 0
        is_xet_allowed = True
        while True:
            missing = self.snapshot.missing(self.files)
            if not missing:
                return
            self.snapshot.remove_stale()
            began = self.log.stat().st_size if self.log.exists() else 0
            code = self._attempt(missing, is_xet_allowed, rate, report)
            left = self.snapshot.missing(self.files)
            if len(left) < len(missing):
                stalls = failures = 0
            # One that is content with a wrong file never looks at it again: that is for whoever verifies.
            if not left or code == 0:
                return
            if code is None:
                stalls += 1
                if stalls >= STALLS:
                    raise self._stalled()
                is_xet_allowed = is_xet_allowed and stalls < STALLS - 1
                continue
            failures += 1
            output = _tail(self.log, began)
            meaning = hf_words.meaning_of(output)
            if not meaning.passes or failures > len(PAUSES_SECONDS):
                raise self._failed(code, meaning, output)
            time.sleep(PAUSES_SECONDS[failures - 1])

    def _attempt(
        self, missing: Sequence[File], is_xet_allowed: bool, rate: hub_flow.Rate, report: Report
    ) -> Optional[int]:
        """Exit code of the client; None: it stalled, and was ended."""
        names = [file.path for file in missing]
        argv = self.call.argv(self.snapshot.repo, self.snapshot.revision, names)
        child = job_children.start(argv, self.call.environment(is_xet_allowed), self.log)
        seen = hub_flow.look(self.snapshot, self.files)
        moved_at = time.monotonic()
        try:
            while True:
                try:
                    return child.wait(timeout=LOOK_SECONDS)
                except subprocess.TimeoutExpired:
                    pass
                before, seen = seen, hub_flow.look(self.snapshot, self.files)
                now = time.monotonic()
                moved_at = now if seen.trace != before.trace else moved_at
                report(hub_flow.progress(self.title, seen, self.files, rate.add(seen.bytes)))
                if now - moved_at >= self.stall_seconds:
                    return None
        finally:
            job_children.stop(child)

    def _stalled(self) -> AgentFailure:
        return AgentFailure(
            "DOWNLOAD_STALLED",
            f"Cannot download {self.title}: no byte came for {self.stall_seconds:g} s, {STALLS} times in a row, the last time "
            f"without Xet; {self._far()}, need a hub that goes on sending",
            change="look at the network of the host (proxy, firewall), set model.endpoint to a mirror, or raise timeouts.download; "
            "what is there is kept",
            retryable=True,
        )

    def _failed(self, code: int, meaning: hf_words.Meaning, output: str) -> AgentFailure:
        room = (
            f", {records.free_bytes(self.snapshot.cache)} bytes are free"
            if meaning.code == "DISK_FULL"
            else ""
        )
        return AgentFailure(
            meaning.code,
            f"Cannot download {self.title}: {meaning.found}{room} (exit code {code}); {self._far()}, need all of them",
            evidence=hf_words.evidence_of(output),
            change=meaning.change,
            retryable=meaning.passes or meaning.code == "DISK_FULL",
        )

    def _far(self) -> str:
        seen = hub_flow.look(self.snapshot, self.files)
        total = sum(file.size for file in self.files)
        return f"{seen.files} of {len(self.files)} files and {hub_room.told_size(seen.bytes)} of {hub_room.told_size(total)} are there"


def _tail(log: Path, began: int) -> str:
    """What was printed since, its end if that is much."""
    with open(log, "rb") as file:
        size = file.seek(0, 2)
        file.seek(max(began, size - LOG_TAIL_BYTES))
        return file.read().decode("utf-8", "replace")
