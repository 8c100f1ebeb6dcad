"""What runs a server and starts it again: one interface, three managers."""

from __future__ import annotations

from typing import Any, Optional, Protocol

from agent import supervised_start, supervisor_end
from agent.start_plan import Plan
from agent.systemd_units import SystemdUnits


class ServiceManager(Protocol):
    """How a server is, run_record.read tells for all of them; its processes are ended by stop.py for all of them."""

    def start(self, plan: Plan, previous: Optional[dict[str, Any]]) -> int:
        """Pid of vLLM's API server, which is on record then. `previous` is the run record that is gone on from."""

    def settle(self, plan: Plan) -> None:
        """Takes over what needs no restart."""

    def release(self, server_id: str) -> None:
        """From here on nothing starts the server again; nothing of the manager is left. Can be repeated."""


class _Supervisor:
    """`process`: a small supervisor of our own, for hosts without systemd. It reads policy.json by itself."""

    def start(self, plan: Plan, previous: Optional[dict[str, Any]]) -> int:
        return supervised_start.start(plan, previous)

    def settle(self, plan: Plan) -> None:
        del plan

    def release(self, server_id: str) -> None:
        supervisor_end.await_end(server_id)


_MANAGERS: dict[str, ServiceManager] = {
    "process": _Supervisor(),
    "systemd": SystemdUnits("systemd"),
    "systemd-user": SystemdUnits("systemd-user"),
}


def named(name: str) -> ServiceManager:
    return _MANAGERS[name]


def release_all(server_id: str) -> None:
    """Whoever had it: a change of manager that was cut off must not leave two."""
    for manager in _MANAGERS.values():
        manager.release(server_id)
