"""Runs one uv command in a job, tells how far it is, and keeps its last lines."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from agent import job_children, process_end, redact
from agent.uv_progress import Progress

_POLL_SECONDS = 0.1
_LAST_LINES = 60


@dataclass(frozen=True)
class Outcome:
    # None: it did not end in time and was ended.
    code: Optional[int]
    # What it said last, without secrets.
    lines: list[str]


def run(
    argv: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    deadline: float,
    report: Callable[[dict[str, Any]], None],
) -> Outcome:
    """`deadline` is on the monotonic clock. Raises OSError when it cannot be started."""
    progress = Progress()
    lines: list[str] = []
    begin = log.stat().st_size if log.exists() else 0
    child = job_children.start(argv, environment, log)
    try:
        with open(log, "rb") as output:
            output.seek(begin)
            rest = b""
            while True:
                code = child.poll()
                rest = _read(rest + output.read(), lines, progress)
                report(progress.told(_written_bytes(child.pid)))
                if code is not None or time.monotonic() > deadline:
                    break
                process_end.wait(child.pid, _POLL_SECONDS)
    finally:
        if child.returncode is None:
            job_children.stop(child)
    if rest:
        lines.append(rest.decode("utf-8", "replace"))
    return Outcome(code, [redact.hide(line) for line in lines[-_LAST_LINES:]])


def _read(data: bytes, lines: list[str], progress: Progress) -> bytes:
    """Takes whole lines; returns what has no end yet."""
    *whole, rest = data.split(b"\n")
    for raw in whole:
        line = raw.decode("utf-8", "replace").rstrip("\r")
        progress.feed(line)
        lines.append(line)
    del lines[:-_LAST_LINES]
    return rest


def _written_bytes(pid: int) -> Optional[int]:
    """Source: proc(5), /proc/PID/io: wchar counts what was handed to write()."""
    try:
        text = Path(f"/proc/{pid}/io").read_text()
    except OSError:
        return None
    found = dict(line.split(": ") for line in text.splitlines() if ": " in line)
    return int(found["wchar"]) if found.get("wchar", "").isdigit() else None
