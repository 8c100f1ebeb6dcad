"""What the job of a checkpoint does: clean up, look for room, download, verify, and fetch again what is broken."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable

from agent import checkpoint_verify, hub_room, job
from agent.checkpoint_record import Checkpoint
from agent.checkpoint_verify import Bad
from agent.download import Download, Report
from agent.failure import AgentFailure
from agent.hf_client import Call

NAMED = 5


@dataclass(frozen=True)
class Work:
    checkpoint: Checkpoint
    # Looked for when it is needed: a checkpoint that is there needs neither client nor hub.
    call: Callable[[Report], Call]
    is_full: bool
    stall_seconds: float

    @property
    def key(self) -> str:
        """One for a revision and what is wanted of it, whoever wants it and from whichever mirror."""
        snapshot = self.checkpoint.snapshot
        parts = [str(snapshot.folder), *sorted(file.path for file in self.checkpoint.files)]
        return "fetch-" + hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def run(self, report: Report) -> dict[str, Any]:
        checkpoint, snapshot = self.checkpoint, self.checkpoint.snapshot
        snapshot.remove_stale()
        refetched = snapshot.discard_wrong(checkpoint.files)
        fetched_bytes = self._download(report)
        bad = self._check(report)
        if bad:
            known = {file.path: file for file in checkpoint.files}
            unknown = [one for one in bad if one.path not in known]
            if unknown:
                raise corrupt(checkpoint.title, unknown, "let model.include and model.exclude take them in")
            for one in bad:
                snapshot.discard(known[one.path])
            refetched += [one.path for one in bad]
            fetched_bytes += self._download(report)
            still_bad = self._check(report)
            if still_bad:
                raise corrupt(checkpoint.title, still_bad, "set model.endpoint to a hub that has it right")
        return {
            "fetchedBytes": fetched_bytes,
            "refetched": sorted(set(refetched)),
            "isFull": self.is_full,
        }

    def _download(self, report: Report) -> int:
        """Bytes that came over the network."""
        checkpoint, snapshot = self.checkpoint, self.checkpoint.snapshot
        if not checkpoint.missing():
            return 0
        size = snapshot.missing_bytes(checkpoint.files)
        hub_room.demand(snapshot, size, checkpoint.title)
        Download(
            self.call(report),
            snapshot,
            checkpoint.files,
            checkpoint.title,
            self.stall_seconds,
            job.log_file(self.key),
        ).run(report)
        return size

    def _check(self, report: Report) -> Sequence[Bad]:
        checkpoint = self.checkpoint

        def tell(files: int, done: int, total: int) -> None:
            report(
                {
                    "phase": "verify",
                    "text": checkpoint.title,
                    "done": files,
                    "total": len(checkpoint.files),
                    "bytesDone": done,
                    "bytesTotal": total,
                }
            )

        memory = checkpoint.hashes_file() if self.is_full else None
        return checkpoint_verify.check(checkpoint.snapshot.folder, checkpoint.expected(), memory, tell)


def corrupt(title: str, bad: Sequence[Bad], change: str) -> AgentFailure:
    """Names the first files, and why each is not right."""
    named = "; ".join(f"{one.path}: {one.why}" for one in bad[:NAMED])
    more = f"; and {len(bad) - NAMED} more" if len(bad) > NAMED else ""
    return AgentFailure(
        "CHECKPOINT_CORRUPT",
        f"Cannot use checkpoint {title}: {len(bad)} of its files are not right, need all of them whole",
        evidence=named + more,
        change=change,
    )
