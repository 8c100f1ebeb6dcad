"""Steps claim, confirm and forget: whose server it is, kept on the host beside it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from agent import (
    checkpoint_forget,
    checkpoint_use,
    environment_use,
    forgetting,
    hf_install,
    job_use,
    lock,
    overlay_use,
    paths,
    records,
    registry,
    state_folder,
)
from agent.failure import AgentFailure

# The supervisor ends by itself once it has ended everything else.
LAST_BREATH_SECONDS = 5.0
POLL_SECONDS = 0.1


def claim(server_id: str, step: dict[str, Any]) -> None:
    """Writes the owner record; a known server keeps since when, by whom and whether confirmed.

    An unconfirmed record of the same URN under another id is taken over when nothing of it lives
    (CHANGED_MEANWHILE when something does: look again). Raises OWNED_BY_ANOTHER for a confirmed one.
    """
    wanted = step["owner"]
    for other_id in registry.ids_of_urn(wanted["urn"]):
        if other_id != server_id:
            _take_over(other_id, server_id)
    known = registry.read_owner(server_id)
    kept = (
        {"confirmed": False}
        if known is None
        else {k: known[k] for k in ("createdBy", "createdAt", "confirmed")}
    )
    records.write_json(_owner_file(server_id), {**wanted, "serverId": server_id, **kept})


def confirm(server_id: str, confirmed: bool = True) -> None:
    """Marks the record confirmed, or not.

    Raises CHANGED_MEANWHILE when there is no record.
    """
    owner = registry.read_owner(server_id)
    if owner is None:
        raise AgentFailure(
            "CHANGED_MEANWHILE",
            f"Cannot confirm server {server_id}: its owner record is gone, need the one that was claimed",
            retryable=True,
        )
    if owner["confirmed"] != confirmed:
        records.write_json(_owner_file(server_id), {**owner, "confirmed": confirmed})


def forget(server_id: str, is_purged: bool = False) -> dict[str, Any]:
    """Removes everything kept for the server, and with `is_purged` its downloads; its record goes last, so that a cut
    attempt can be repeated. ForgetResult of remote/protocol.ts. Raises STOP_INCOMPLETE while a process of it lives.
    """
    _require_nothing_alive(server_id)
    # Whoever is forgotten at the same time uses all of this, or none of it.
    with checkpoint_use.exclusive_if_any(server_id):
        forgetting.begin(server_id)
        job_use.drop_all(server_id)
        overlay_use.drop_all(server_id)
        purged = checkpoint_forget.run(server_id, is_purged)
    hf_install.drop_unless_others(server_id)
    environment_use.drop_all(server_id)
    state_folder.remove(server_id)
    return purged


def _take_over(other_id: str, server_id: str) -> None:
    other = registry.load(other_id)
    owner = other.owner or {}
    if owner.get("confirmed"):
        raise AgentFailure(
            "OWNED_BY_ANOTHER",
            "Cannot claim the server: {} of {}/{} has this URN since {}, created by {}".format(
                other_id, owner["project"], owner["stack"], owner["createdAt"], owner["createdBy"]
            ),
            change=(
                "destroy it from the stack that has it; if that state is lost, set "
                f'"confirmed" to false in {_owner_file(other_id)} on the host and run `pulumi up` again'
            ),
        )
    if other.occupies():
        raise AgentFailure(
            "CHANGED_MEANWHILE",
            f"Cannot claim the server: {other_id}, an unfinished create of the same resource, still lives",
            retryable=True,
        )
    with lock.held(paths.server_folder(other_id) / "lock", "server " + server_id, 0):
        job_use.hand_over(other_id, server_id)
        checkpoint_use.hand_over(other_id, server_id)
        overlay_use.drop_all(other_id)
        environment_use.hand_over(other_id, server_id)
        state_folder.remove(other_id)


def _require_nothing_alive(server_id: str) -> None:
    end = time.monotonic() + LAST_BREATH_SECONDS
    while True:
        server = registry.load(server_id)
        if not server.occupies():
            return
        if time.monotonic() >= end:
            break
        time.sleep(POLL_SECONDS)
    alive = ["%s (pid %d)" % (process.command, process.pid) for process in server.members]
    raise AgentFailure(
        "STOP_INCOMPLETE",
        "Cannot forget server %s: %d processes of it live, need none" % (server_id, len(alive)),
        evidence="; ".join(alive) or "its supervisor still runs",
        retryable=True,
    )


def _owner_file(server_id: str) -> Path:
    return paths.server_folder(server_id) / "owner.json"
