"""The servers this user's state root knows of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

from agent import paths, processes, record_shapes, records, run_record, unit_run
from agent.failure import AgentFailure

_OWNER_TEXTS = ("serverId", "urn", "project", "stack", "name", "createdBy", "createdAt")


@dataclass(frozen=True)
class Server:
    server_id: str
    owner: Optional[dict[str, Any]]
    # launch.json, run.json and ready.json as they stand; None where missing.
    launch: Optional[dict[str, Any]]
    run: Optional[dict[str, Any]]
    ready: Optional[dict[str, Any]]
    members: list[processes.Process]
    is_supervised: bool

    def is_known(self) -> bool:
        """Whether anything on this host tells of it."""
        return bool(self.owner or self.launch or self.run or self.members)

    def occupies(self) -> bool:
        """Whether its GPUs and its port are taken: something of it lives, or is about to be started again."""
        return bool(self.members) or self.is_supervised

    def ready_of_launch(self) -> Optional[dict[str, Any]]:
        """ready.json where it tells of what was last started: of its newest process, or, after automatic restarts, of one before."""
        asked = (self.launch or {}).get("generation")
        proven = (self.ready or {}).get("generation")
        if not isinstance(asked, int) or not isinstance(proven, int):
            return None
        return self.ready if asked <= proven <= run_record.generation_of(self.run) else None

    def listen(self) -> Optional[dict[str, Any]]:
        """{address, port} of what was last started."""
        return None if self.launch is None else self.launch["listen"]


def load(
    server_id: str,
    among: Optional[processes.Snapshot] = None,
    shown: Optional[Mapping[str, str]] = None,
) -> Server:
    """One server as it is now. Records that another hand has damaged count as missing. `shown`: as run_record.read."""
    folder = paths.server_folder(server_id)
    run = run_record.read(server_id, shown)
    ready = records.read_json(folder / "ready.json")
    return Server(
        server_id=server_id,
        owner=read_owner(server_id),
        launch=load_launch(server_id),
        run=run,
        ready=ready if record_shapes.fits(ready, record_shapes.READY) else None,
        members=processes.members_of(server_id, run, among),
        is_supervised=run_record.is_supervised(run),
    )


def load_launch(server_id: str) -> Optional[dict[str, Any]]:
    """What was last started, or was about to be; None when never."""
    launch = records.read_json(paths.server_folder(server_id) / "launch.json")
    return launch if record_shapes.fits(launch, record_shapes.LAUNCH, frozenset({"listen"})) else None


def load_all(among: Optional[processes.Snapshot] = None) -> list[Server]:
    """Every server of the state root, by id."""
    seen = processes.Snapshot() if among is None else among
    ids = server_ids()
    shown = unit_run.shown_of({server_id: run_record.recorded_manager(server_id) for server_id in ids})
    return [load(server_id, seen, shown.get(server_id, {})) for server_id in ids]


def server_ids() -> list[str]:
    """Names of the folders that hold a record, sorted."""
    root = paths.state_root()
    found = (
        entry.name
        for entry in (root.iterdir() if root.is_dir() else ())
        if any((entry / name).is_file() for name in ("owner.json", "launch.json", "run.json"))
    )
    return sorted(name for name in found if _is_server_id(name))


def read_owner(server_id: str) -> Optional[dict[str, Any]]:
    """OwnerRecord of core/observed.ts; None when missing or damaged."""
    found = records.read_json(paths.server_folder(server_id) / "owner.json")
    if not isinstance(found, dict) or not all(isinstance(found.get(name), str) for name in _OWNER_TEXTS):
        return None
    claim_id = found.get("claimId")
    return {
        **{name: found[name] for name in _OWNER_TEXTS},
        "confirmed": found.get("confirmed") is True,
        "claimId": claim_id if isinstance(claim_id, str) else None,
    }


def ids_of_urn(urn: str) -> list[str]:
    """Servers whose owner record has the URN: confirmed ones first, then the newest."""
    owners = [owner for owner in map(read_owner, server_ids()) if owner is not None and owner["urn"] == urn]
    owners.sort(key=lambda owner: owner["createdAt"], reverse=True)
    owners.sort(key=lambda owner: not owner["confirmed"])
    return [owner["serverId"] for owner in owners]


def _is_server_id(name: str) -> bool:
    try:
        paths.server_folder(name)
    except AgentFailure:
        return False
    return True
