"""The detached process of a job: holds the job's lock, writes down how it goes and how it ended, leaves no child."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import signal
import time
from pathlib import Path
from typing import Any, Callable, Optional

from agent import job_children, lock, processes, records, redact
from agent.detach import detach
from agent.failure import AgentFailure, of_crash

REPORT_SECONDS = 0.5
# Whoever followed an earlier job may not have read what it came to when the next one starts.
RESULTS_KEPT = 8
Report = Callable[[dict[str, Any]], None]
Body = Callable[[Report], dict[str, Any]]


class _Told(BaseException):
    """Somebody wants the job to end. No Exception: nothing that handles ordinary failures may swallow it."""


def start(folder: Path, about: dict[str, Any], body: Body) -> int:
    """Starts the process and returns a pipe that ends as soon as the job is on record, or is not needed."""
    records.make_folder(folder)
    return detach("pvllm-job", folder / "crash", lambda report: _live(folder, about, body, report))


def result_file(folder: Path, job_id: str) -> Path:
    """What that job came to; none while it runs, and when it died without."""
    return folder / "results" / f"{job_id}.json"


def end_strays(folder: Path) -> None:
    """Ends what children of a job that was killed have left, by their mark."""
    job_children.end(job_children.marked(str(folder)))


def _live(folder: Path, about: dict[str, Any], body: Body, report: int) -> None:
    os.umask(0o077)
    held = _lock(folder / "lock")
    if held is None:
        return  # another one was quicker
    end_strays(folder)
    _drop_old_results(folder / "results")
    (folder / "progress.json").unlink(missing_ok=True)
    (folder / "log").write_bytes(b"")
    me = processes.read_process(os.getpid())
    job_id = secrets.token_hex(8)
    record = {
        **about,
        "id": job_id,
        "pid": os.getpid(),
        "startTicks": me.start_ticks if me else 0,
        "bootId": processes.boot_id(),
        "startedAt": lock.utc_now(),
    }
    signal.signal(signal.SIGTERM, _on_term)
    records.write_json(folder / "job.json", record)
    os.close(report)
    try:
        outcome = _outcome(folder, body)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        job_children.end_own()
    if outcome is not None:
        records.write_json(result_file(folder, job_id), outcome)


def _drop_old_results(results: Path) -> None:
    results.mkdir(mode=0o700, exist_ok=True)
    oldest_first = sorted(results.iterdir(), key=lambda file: file.stat().st_mtime_ns)
    for file in oldest_first[:-RESULTS_KEPT]:
        file.unlink(missing_ok=True)


def _outcome(folder: Path, body: Body) -> Optional[dict[str, Any]]:
    """{"result"} or {"error"}; None when the job was told to end."""
    job_children.mark(str(folder))
    try:
        return {"result": body(_Progress(folder / "progress.json"))}
    except _Told:
        return None
    except AgentFailure as failure:
        error = failure.to_error()
    except Exception as error_met:
        error = of_crash("a job", error_met).to_error()
    return {"error": redact.hide_deep(error)}


class _Progress:
    def __init__(self, file: Path) -> None:
        self.file = file
        self.phase: Any = None
        self.told_at = 0.0

    def __call__(self, progress: dict[str, Any]) -> None:
        """Twice a second at most; a new phase at once. Not synced: the disk is busy, and it is worth little."""
        is_new = progress.get("phase") != self.phase
        if not is_new and time.monotonic() - self.told_at < REPORT_SECONDS:
            return
        self.phase, self.told_at = progress.get("phase"), time.monotonic()
        beside = self.file.with_name(".progress")
        # Progress is not worth an end: a full disk shows where it matters.
        with contextlib.suppress(OSError):
            beside.write_text(json.dumps(redact.hide_deep(progress)), encoding="utf-8")
            os.replace(beside, self.file)


def _on_term(_signal: int, _frame: object) -> None:
    raise _Told()


def _lock(place: Path) -> Optional[int]:
    """Held until the process ends, whatever ends it; None when somebody else has it, or the folder is gone."""
    try:
        descriptor = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return descriptor if os.path.samestat(os.fstat(descriptor), os.stat(place)) else None
    except (BlockingIOError, FileNotFoundError):
        return None
