"""Processes of the host, and which of them belong to a server. Never by name."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Optional

from agent import cgroup

MARKER = "PULUMI_VLLM_SERVER"
LONGEST_COMMAND = 300

# A command line can hold anything: line breaks of a script, sequences that act on the terminal it is shown on.
_UNPRINTED = re.compile("[\\x00-\\x1f\\x7f-\\x9f]+")
# Other people's command lines are shown to the user; what they pass as a key is not.
_KEY_ARGUMENT = re.compile(r"(--(?:api-key|hf-token|token|password)[= ])\S+")


_KERNEL_THREAD = 0x00200000  # Source: Linux include/linux/sched.h, PF_KTHREAD


@dataclass(frozen=True)
class Process:
    """What /proc/PID/stat says. A big GPU host has thousands of processes, so the rest is read when it is asked for."""

    pid: int
    ppid: int
    session_id: int
    # Start time in clock ticks since boot: with the pid and the boot id it names a process for good.
    start_ticks: int
    # Letter of /proc/PID/stat: R, S, D, Z, ...
    state: str
    # The short name, at most 15 characters.
    name: str

    @cached_property
    def uid(self) -> int:
        """Real user id; -1: it is gone."""
        try:
            return _real_uid(self.pid)
        except (OSError, ValueError):
            return -1

    @cached_property
    def command(self) -> str:
        """The command line without keys; the name in brackets where there is none."""
        try:
            words = _UNPRINTED.sub(" ", _read(self.pid, "cmdline").decode("utf-8", "replace")).strip()
        except OSError:
            words = ""
        return _KEY_ARGUMENT.sub(r"\1***", words or f"[{self.name}]")[:LONGEST_COMMAND]

    def remember(self) -> Process:
        """Reads everything now, so that it can be told of after its end."""
        _ = (self.uid, self.command)
        return self


@cache
def kernel_boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def boot_id() -> str:
    """Names the time for which process numbers mean the same processes: the kernel's boot, and the moment at which
    process 1 began. A container that is started again hands its small numbers out anew within one boot of the kernel.
    """
    kernel = kernel_boot_id()
    first = _stat(1)  # None: hidden from us (hidepid), and so for all who ask here
    return kernel if first is None else f"{kernel}+{_process(1, *first).start_ticks}"


def read_process(pid: int) -> Optional[Process]:
    """The process as it is now, zombies included; None when there is none (or it is hidden from us)."""
    found = _stat(pid)
    return None if found is None else _process(pid, *found).remember()


def all_processes() -> list[Process]:
    """Every process that can be seen, by pid, without kernel threads."""
    found = ((pid, _stat(pid)) for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()))
    return [
        _process(pid, *stat)
        for pid, stat in found
        if stat is not None and not int(stat[1][6]) & _KERNEL_THREAD
    ]


def _stat(pid: int) -> Optional[tuple[str, list[str]]]:
    """The name, and the fields after it from the state on. The name may hold spaces and parentheses itself."""
    try:
        stat = _read(pid, "stat").decode("utf-8", "replace")
    except OSError:
        return None
    return stat[stat.index("(") + 1 : stat.rindex(")")], stat[stat.rindex(")") + 2 :].split()


def _process(pid: int, name: str, fields: list[str]) -> Process:
    return Process(
        pid=pid,
        ppid=int(fields[1]),
        session_id=int(fields[3]),
        start_ticks=int(fields[19]),
        state=fields[0],
        name=name,
    )


def is_same(pid: int, start_ticks: int) -> bool:
    """Whether that very process lives: same pid, same start, not a zombie."""
    found = _stat(pid)
    if found is None:
        return False
    process = _process(pid, *found)
    return is_alive(process) and process.start_ticks == start_ticks


def is_alive(process: Process) -> bool:
    """A zombie that its parent never reaps holds nothing any more; one whose first thread has ended while another sits
    in the kernel looks the same, and holds everything."""
    return process.state not in ("Z", "X", "x") or len(threads_of(process.pid)) > 1


def threads_of(pid: int) -> list[int]:
    try:
        return sorted(int(name) for name in os.listdir("/proc/%d/task" % pid))
    except OSError:
        return []


def read_marker(pid: int) -> Optional[str]:
    """Server id in the environment the process was started with; None when absent or unreadable.

    vLLM overwrites the environ of its titled children unless SPT_NOENV=1 is set.
    Source: setproctitle, run with vLLM 0.32.0.
    """
    try:
        environ = _read(pid, "environ")
    except OSError:
        return None
    wanted = MARKER.encode("ascii") + b"="
    for entry in environ.split(b"\0"):
        if entry.startswith(wanted):
            return entry[len(wanted) :].decode("utf-8", "replace")
    return None


class Snapshot:
    """Every process of one moment; environments are read once each, when asked for."""

    def __init__(self) -> None:
        self.processes = all_processes()
        self.by_pid = {process.pid: process for process in self.processes}
        self.marker = cache(read_marker)


def members_of(
    server_id: str, run: Optional[dict[str, Any]], among: Optional[Snapshot] = None
) -> list[Process]:
    """Every live process that belongs to the server, by pid. Its supervisor and this agent are none of them.

    A process belongs when its session is one that the supervisor recorded under this boot and its marker is
    not another server's, when it is in the unit's control group, or when its marker is ours. `among` saves a second look at /proc.
    """
    seen = Snapshot() if among is None else among
    sessions = _sessions_of_this_boot(run)
    supervisor = (run or {}).get("supervisor") or {}
    group = cgroup.pids((run or {}).get("cgroup") or "")
    outside = {os.getpid()} | _control((run or {}).get("controlPid") or 0, seen)
    members = []
    for process in seen.processes:
        identity = {"pid": process.pid, "startTicks": process.start_ticks}
        # The number of a supervisor that has died can be one of ours by now.
        is_supervisor = sessions is not None and identity == supervisor
        if process.pid in outside or is_supervisor or not is_alive(process):
            continue
        marker = seen.marker(process.pid)
        if marker == server_id or process.pid in group:
            members.append(process.remember())
        elif marker is None and any(_is_in(process, session, seen.by_pid) for session in sessions or []):
            members.append(process.remember())
    return members


def descendants_of(pid: int, among: Snapshot) -> list[Process]:
    """Live processes of our user below `pid`, by pid."""
    found: list[Process] = []
    above = {pid}
    while above:
        below = [process for process in among.processes if process.ppid in above]
        found += below
        above = {process.pid for process in below}
    mine = (process for process in found if is_alive(process) and process.uid == os.getuid())
    return sorted((process.remember() for process in mine), key=lambda process: process.pid)


def _control(pid: int, among: Snapshot) -> set[int]:
    """What systemd runs beside the server itself (unit.sh); it ends by itself. 0: nothing."""
    return {pid, *(process.pid for process in descendants_of(pid, among))} if pid > 0 else set()


def _sessions_of_this_boot(run: Optional[dict[str, Any]]) -> Optional[list[dict[str, Any]]]:
    if run is None or run.get("bootId") != boot_id():
        return None
    return list(run.get("sessions") or [])


def _is_in(process: Process, session: dict[str, Any], by_pid: dict[int, Process]) -> bool:
    if process.session_id != session["sid"] or process.start_ticks < session["startTicks"]:
        return False
    if process.uid != os.getuid():
        return False
    # A leader that started later than the recorded one means that the number was used again for a stranger.
    leader = by_pid.get(session["sid"])
    return leader is None or leader.start_ticks == session["startTicks"]


def _real_uid(pid: int) -> int:
    for line in _read(pid, "status").splitlines():
        if line.startswith(b"Uid:"):
            return int(line.split()[1])
    raise ValueError("no Uid in /proc/%d/status" % pid)


def _read(pid: int, name: str) -> bytes:
    with open("/proc/%d/%s" % (pid, name), "rb") as file:
        return file.read()
