"""Step fetch: a checkpoint complete and right on the host, by a job of its own that one revision has however many want it."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, Optional

from agent import (
    checkpoint_record,
    checkpoint_use,
    checkpoint_verify,
    fetch_body,
    fetch_folder,
    hub_source,
    job,
)
from agent.checkpoint_record import Checkpoint
from agent.failure import AgentFailure

_RUNS = 3


def run(server_id: str, step: dict[str, Any]) -> dict[str, Any]:
    """FetchResult of remote/protocol.ts. Quick, and without the network, where everything is there; `verify: "full"` hashes once.

    Raises the HUB_ codes, DISK_FULL, DOWNLOAD_STALLED, DOWNLOAD_FAILED, CHECKPOINT_CORRUPT and CHECKPOINT_NOT_FOUND.
    """
    began = time.monotonic()
    wanted = step["checkpoint"]
    if wanted["key"] is None:
        found = fetch_folder.run(server_id, wanted)
    else:
        found = _of_hub(server_id, wanted, hub_source.Source(server_id, wanted, step["executable"]))
    return {**found, "seconds": round(time.monotonic() - began, 1)}


def _of_hub(server_id: str, wanted: dict[str, Any], source: hub_source.Source) -> dict[str, Any]:
    key = wanted["key"]
    with checkpoint_use.exclusive(server_id):
        checkpoint_use.note(server_id, key)
    checkpoint = _known(wanted)
    if checkpoint is None:
        checkpoint = source.resolve()
        checkpoint_record.write(key, checkpoint)
    done = _make_right(server_id, checkpoint, source, wanted)
    is_full = wanted["verify"] == "full"
    return {
        "revision": checkpoint.snapshot.revision,
        "path": str(checkpoint.snapshot.folder),
        "files": len(checkpoint.files),
        "bytes": checkpoint.bytes,
        "fetchedBytes": done.get("fetchedBytes", 0),
        "refetched": done.get("refetched", []),
        "hashed": len(checkpoint.files) if is_full else 0,
        "unhashed": [],
    }


def _known(wanted: dict[str, Any]) -> Optional[Checkpoint]:
    """What the declaration came to before: a branch stays where it was."""
    found = checkpoint_record.read(wanted["key"])
    if found is None or found.load_format != wanted["loadFormat"]:
        return None
    return found if wanted["resolved"] in (None, found.snapshot.revision) else None


def _make_right(
    server_id: str, checkpoint: Checkpoint, source: hub_source.Source, wanted: dict[str, Any]
) -> dict[str, Any]:
    is_full = wanted["verify"] == "full"
    missing = checkpoint.missing()
    is_quick = not missing and not is_full
    if is_quick and not checkpoint_verify.check(checkpoint.snapshot.folder, checkpoint.expected()):
        return {}
    if missing:
        # Before anything is started: who may not have it hears that at once, and the client is found where it is told of.
        source.demand_access(checkpoint, missing)
        source.call(checkpoint)
    work = fetch_body.Work(checkpoint, partial(source.call, checkpoint), is_full, wanted["stallSeconds"])
    for _ in range(_RUNS):
        done = job.run(work.key, f"download {checkpoint.title}", work.run, server_id)
        # One that somebody else started may have looked less closely.
        if done["isFull"] or not is_full:
            return done
    raise AgentFailure(
        "HOST_LOCKED",
        f"Cannot hash {checkpoint.title}: others fetch it again and again, need a moment without",
        retryable=True,
    )
