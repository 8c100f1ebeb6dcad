"""In what a process waits: the state, and the place in the kernel, of the thread that tells most."""

from __future__ import annotations

from typing import Any, Optional

from agent import processes


def describe(process: processes.Process, cores: float) -> dict[str, Any]:
    """StuckProcess of core/stuck-process.ts. `cores`: how many it kept busy of late."""
    state, place = where(process)
    return {
        "pid": process.pid,
        "command": process.command,
        "state": state,
        "place": place,
        "cpuCores": round(cores, 2),
    }


def where(process: processes.Process) -> tuple[str, Optional[str]]:
    """State and place in the kernel of its thread that hangs; of a process whose first thread has ended, of another.
    The place is None where the kernel does not tell it (another user's process, a thread that runs)."""
    states = {thread: _state_of(process.pid, thread) for thread in processes.threads_of(process.pid)}
    living = {thread: state for thread, state in states.items() if state not in (None, "Z", "X", "x")}
    hanging = next((thread for thread, state in living.items() if state == "D"), next(iter(living), None))
    if hanging is None:
        return process.state, None
    try:
        with open(f"/proc/{process.pid}/task/{hanging}/wchan", encoding="ascii") as file:
            place = file.read().strip()
    except OSError:
        place = ""
    return living[hanging] or process.state, None if place in ("", "0") else place


def _state_of(pid: int, thread: int) -> Optional[str]:
    try:
        with open(f"/proc/{pid}/task/{thread}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1].decode("ascii")
    except OSError:
        return None
