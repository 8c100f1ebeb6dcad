"""Keeps the hub's client at it until every file is there: watches it for stalls, starts it again, reads what it says."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional

from agent import hf_client, hf_words, hub_flow, hub_room, job_children, records
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
        silence = hub_flow.Silence(self.stall_seconds)
        stalls = failures = 0
        is_xet_allowed = True
        while True:
            missing = self.snapshot.missing(self.files)
            if not missing:
                return
            self.snapshot.remove_stale()
            began = _end_of(self.log)
            code = self._attempt(missing, is_xet_allowed, rate, silence, report)
            left = self.snapshot.missing(self.files)
            if len(left) < len(missing):
                stalls = failures = 0
            # One that is content with a wrong file never looks at it again: that is for whoever verifies.
            if not left or code == 0:
                return
            output = _tail(self.log, began)
            is_given_up = code is not None and hf_words.tells_silence(output)
            if is_given_up and not silence.is_over():
                # The client's patience ends sooner than the declared one: the silence goes on.
                time.sleep(PAUSES_SECONDS[0])
                continue
            if code is None or is_given_up:
                silence.begin()
                stalls += 1
                if stalls >= STALLS:
                    raise self._stalled()
                is_xet_allowed = is_xet_allowed and stalls < STALLS - 1
                continue
            failures += 1
            meaning = hf_words.meaning_of(output)
            if not meaning.passes or failures > len(PAUSES_SECONDS):
                raise self._failed(code, meaning, output)
            time.sleep(PAUSES_SECONDS[failures - 1])

    def _attempt(
        self,
        missing: Sequence[File],
        is_xet_allowed: bool,
        rate: hub_flow.Rate,
        silence: hub_flow.Silence,
        report: Report,
    ) -> Optional[int]:
        """Exit code of a client that failed, or 0; None: they stalled, and were ended."""
        began = _end_of(self.log)
        children: list[subprocess.Popen[bytes]] = []
        first = hub_flow.look(self.snapshot, self.files)
        silence.look_first(first)
        # What is small or near is there before the next look.
        report(hub_flow.progress(self.title, first, self.files, rate.add(first.bytes)))
        try:
            repo, revision = self.snapshot.repo, self.snapshot.revision
            for argv, environment in self.call.clients(repo, revision, missing, is_xet_allowed):
                children.append(job_children.start(argv, environment, self.log))
            while True:
                codes = _wait(children)
                failed = next((code for code in codes if code), 0)
                # Where one is refused for good the others need not end by themselves.
                is_over = failed != 0 and not hf_words.meaning_of(_tail(self.log, began)).passes
                if is_over or None not in codes:
                    return failed
                seen = hub_flow.look(self.snapshot, self.files)
                silence.look(seen)
                report(hub_flow.progress(self.title, seen, self.files, rate.add(seen.bytes)))
                if silence.is_over():
                    return None
        finally:
            for child in children:
                job_children.stop(child)

    def _stalled(self) -> AgentFailure:
        return AgentFailure(
            "DOWNLOAD_STALLED",
            f"Cannot download {self.title}: no byte came for {self.stall_seconds:g} s, {STALLS} times in a row, the last time "
            f"without Xet{self._but_large()}; {self._far()}, need a hub that goes on sending",
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

    def _but_large(self) -> str:
        missing = self.snapshot.missing(self.files)
        large = [file for file in missing if file.size > hf_client.LARGEST_PLAIN_BYTES]
        if not large:
            return ""
        told, most = hub_room.told_size(large[0].size), hub_room.told_size(hf_client.LARGEST_PLAIN_BYTES)
        more = f" and {len(large) - 1} more" if len(large) > 1 else ""
        return f" but for {large[0].path} ({told}){more}: above {most} the client knows no other way"

    def _far(self) -> str:
        seen = hub_flow.look(self.snapshot, self.files)
        total = sum(file.size for file in self.files)
        return f"{seen.files} of {len(self.files)} files and {hub_room.told_size(seen.bytes)} of {hub_room.told_size(total)} are there"


def _wait(children: Sequence[subprocess.Popen[bytes]]) -> list[Optional[int]]:
    """Exit codes, None for those that still run; after a moment, or as soon as one of them has ended that is waited for."""
    running = next((child for child in children if child.poll() is None), None)
    if running is not None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(timeout=LOOK_SECONDS)
    return [child.poll() for child in children]


def _end_of(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def _tail(log: Path, began: int) -> str:
    """What was printed since, its end if that is much."""
    with open(log, "rb") as file:
        size = file.seek(0, 2)
        file.seek(max(began, size - LOG_TAIL_BYTES))
        return file.read().decode("utf-8", "replace")
