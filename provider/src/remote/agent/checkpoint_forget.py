"""What is forgotten of checkpoints with a server: its records, and their files where that is wanted."""

from __future__ import annotations

from typing import Any

from agent import checkpoint_purge, checkpoint_record, checkpoint_use


def run(server_id: str, is_purged: bool) -> dict[str, Any]:
    """{freedBytes, kept}. Files go first: a cut attempt can be repeated as long as the records tell of them.

    Call it under checkpoint_use.exclusive_if_any.
    """
    purged = checkpoint_purge.run(server_id) if is_purged else {"freedBytes": 0, "kept": []}
    _remove_parts(server_id)
    checkpoint_use.drop_all(server_id)
    return purged


def _remove_parts(server_id: str) -> None:
    """What a download that was ended with the server has left: nothing can go on with it."""
    for checkpoint in map(checkpoint_record.read, checkpoint_use.keys_of(server_id)):
        if checkpoint is not None:
            checkpoint.snapshot.remove_stale()
