"""Long work that outlives SSH and the CLI: one job a key, whoever wants it; joined when it runs already."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from pathlib import Path
from typing import Any, Callable, Optional

from agent import events, job_process, job_use, paths, process_end, processes, records
from agent.failure import AgentFailure

# What a body tells of its progress: the fields of the event "progress", those left out are null.
Report = Callable[[dict[str, Any]], None]
Body = Callable[[Report], dict[str, Any]]

POLL_SECONDS = 0.2
EVENT_SECONDS = 1.0
# A job that is told to end ends its children first.
END_SECONDS = 10.0
# Between the lock of a job and its record.
QUICKER_SECONDS = 10.0
_PROGRESS = (
    *("phase", "text", "done", "total"),
    *("bytesDone", "bytesTotal", "bytesPerSecond", "secondsLeft"),
)


def run(
    key: str, title: str, body: Body, server_id: Optional[str] = None, report: Optional[Report] = None
) -> dict[str, Any]:
    """Joins the living job of that key or starts one, tells its progress, and returns its result.

    `body(report)` runs in a detached process of its own, so it must start children with job_children.start and write what
    they print to job.log_file(key); it has to be idempotent and quick when there is nothing to do. `title` reads "install vllm 0.32.0"
    (after "Cannot"). `server_id`: noted as one that wants it until it has succeeded. `report`: of the job that this one is needed in,
    which then tells its progress; nobody hears the events of a job. Raises the AgentFailure that the job ended with. A job that dies without a result is started again once; so is one of somebody else's that the hub refused,
    which may have asked with another token.
    """
    if server_id is not None:
        job_use.note(server_id, key)
    for is_last in (False, True):
        followed = _living(key)
        is_joined = followed is not None
        if followed is None:
            followed = _start(key, title, body, _client(server_id))
        outcome = None if followed is None else _follow(key, followed, report or _emit)
        if outcome is not None and "error" not in outcome:
            if server_id is not None:
                job_use.done(server_id, key)
            return dict(outcome["result"])
        refusal = None if outcome is None else AgentFailure(**outcome["error"])
        if refusal is not None and (is_last or not is_joined or not refusal.code.startswith("HUB_")):
            raise refusal
    raise AgentFailure(
        "AGENT_CRASHED",
        f"Cannot {title}: its process was killed twice, need it to live until it is done",
        evidence=last_line(log_file(key)),
        retryable=True,
    )


def is_running(key: str) -> bool:
    return _living(key) is not None


def cancel(key: str) -> None:
    """Ends the job and everything it has started, by id; returns when they are gone. Nothing when there is none."""
    found = _living(key)
    if found is not None:
        identity = (int(found["pid"]), int(found["startTicks"]))
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                if processes.is_same(*identity):
                    os.kill(identity[0], number)
            end = time.monotonic() + END_SECONDS
            while processes.is_same(*identity) and time.monotonic() < end:
                time.sleep(0.02)
    job_process.end_strays(folder(key))


def folder(key: str) -> Path:
    return job_use.folder(key)


def log_file(key: str) -> Path:
    """Where children of the body print to; emptied when a job starts."""
    return folder(key) / "log"


def last_line(log: Path) -> Optional[str]:
    """Last line of a log that says something; None when there is none."""
    try:
        with open(log, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 4096))
            lines = file.read().decode("utf-8", "replace").replace("\r", "\n").splitlines()
    except OSError:
        return None
    return next((line.strip() for line in reversed(lines) if line.strip()), None)


def _living(key: str) -> Optional[dict[str, Any]]:
    """job.json of the job that runs now; one whose result is on record is waited for, and does not."""
    found = records.read_json(folder(key) / "job.json")
    if not isinstance(found, dict) or found.get("bootId") != processes.boot_id():
        return None
    identity = (found["pid"], found["startTicks"])
    if processes.is_same(*identity) and job_process.result_file(folder(key), found["id"]).exists():
        process_end.wait(found["pid"], END_SECONDS)
    return found if processes.is_same(*identity) else None


def _start(key: str, title: str, body: Body, client: str) -> Optional[dict[str, Any]]:
    """job.json of the job that was started, or of one that somebody started this instant; None when it died at once."""
    before = _recorded_id(key)
    hear = job_process.start(folder(key), {"key": key, "title": title, "client": client}, body)
    try:
        # Ends when the job is on record, or is gone, perhaps because another one was quicker.
        select.select([hear], [], [], END_SECONDS)
    finally:
        os.close(hear)
    end = time.monotonic() + QUICKER_SECONDS
    while _recorded_id(key) in (None, before) and time.monotonic() < end:
        time.sleep(0.02)
    found = records.read_json(folder(key) / "job.json")
    return found if isinstance(found, dict) and found.get("id") != before else None


def _recorded_id(key: str) -> Optional[str]:
    found = records.read_json(folder(key) / "job.json")
    return str(found.get("id")) if isinstance(found, dict) else None


def _follow(key: str, followed: dict[str, Any], tell: Report) -> Optional[dict[str, Any]]:
    """{"result"} or {"error"} of that very job once it has ended; None: it died without."""
    told: Any = None
    told_at = 0.0
    while True:
        is_alive = processes.is_same(followed["pid"], followed["startTicks"])
        ended = records.read_json(job_process.result_file(folder(key), followed["id"]))
        progress = records.read_json(folder(key) / "progress.json")
        if isinstance(progress, dict) and progress != told and time.monotonic() - told_at >= EVENT_SECONDS:
            tell(progress)
            told, told_at = progress, time.monotonic()
        if isinstance(ended, dict):
            # It still writes in its folder, which may be of no use to anybody from now on.
            if is_alive:
                process_end.wait(followed["pid"], END_SECONDS)
            return ended
        if not is_alive:
            return None
        process_end.wait(followed["pid"], POLL_SECONDS)


def _emit(progress: dict[str, Any]) -> None:
    events.emit({"event": "progress", **{name: progress.get(name) for name in _PROGRESS}})


def _client(server_id: Optional[str]) -> str:
    """Who holds the server's lock: that is on whose behalf the job is started."""
    held = records.read_json(paths.server_folder(server_id) / "lock.json") if server_id else None
    return str(held.get("client")) if isinstance(held, dict) else "an unnamed client"
