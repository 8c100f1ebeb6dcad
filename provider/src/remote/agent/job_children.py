"""What a job has started: it ends with the job, however that ends."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Optional

from agent import processes

# Names the folder of the job in the environment of its children.
MARKER = "PULUMI_VLLM_JOB"
# What they make in shared places (a cache of checkpoints) can be read there, as it usually can.
UMASK = 0o022
TERM_SECONDS = 5.0
KILL_SECONDS = 5.0
_PR_SET_PDEATHSIG = 1

_mark = ""


def mark(folder: str) -> None:
    """Children of this process from now on belong to the job of that folder."""
    global _mark
    _mark = folder


def start(
    argv: Sequence[str], environment: Mapping[str, str], log: Path, stdout: Optional[int] = None
) -> subprocess.Popen[bytes]:
    """Starts argv (argv[0] absolute) in a session of its own, without stdin; what it prints is added to `log`.

    `stdout`: a descriptor for its standard output instead. It is killed by the kernel when the job is killed, so call it from
    the job's main thread. Raises OSError when it cannot be started.
    """
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    libc = ctypes.CDLL(None)

    def prepare() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.umask(UMASK)

    try:
        return subprocess.Popen(
            list(argv),
            env={**environment, MARKER: _mark},
            stdin=subprocess.DEVNULL,
            stdout=output if stdout is None else stdout,
            stderr=output,
            cwd="/",
            start_new_session=True,
            # The job has one thread, and the library is loaded.
            preexec_fn=prepare,  # noqa: PLW1509
        )
    finally:
        os.close(output)


def stop(child: subprocess.Popen[bytes]) -> None:
    """Ends the child and everything below it, and reaps it. One that has been reaped has no number any more; what it left
    ends with the job."""
    if child.poll() is not None:
        return
    me = processes.read_process(child.pid)
    end([*([] if me is None else [me]), *processes.descendants_of(child.pid, processes.Snapshot())])
    child.wait()


def marked(folder: str) -> list[processes.Process]:
    """Live processes of our user that carry the mark of that job; never this one."""
    wanted = f"{MARKER}={folder}".encode()
    return [
        process.remember()
        for process in processes.all_processes()
        if process.pid != os.getpid()
        and process.uid == os.getuid()
        and processes.is_alive(process)
        and wanted in _environ(process.pid)
    ]


def end_own() -> None:
    """Ends and reaps all children of this process, adopted ones too."""
    end(processes.descendants_of(os.getpid(), processes.Snapshot()))
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


def end(wanted: Sequence[processes.Process]) -> None:
    """SIGTERM, then SIGKILL; by number and start, so never a stranger's."""
    for number, seconds in ((signal.SIGTERM, TERM_SECONDS), (signal.SIGKILL, KILL_SECONDS)):
        left = [process for process in wanted if processes.is_same(process.pid, process.start_ticks)]
        for process in left:
            try:
                os.kill(process.pid, number)
            except (ProcessLookupError, PermissionError):
                continue
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and any(processes.is_same(p.pid, p.start_ticks) for p in left):
            time.sleep(0.02)


def _environ(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []
