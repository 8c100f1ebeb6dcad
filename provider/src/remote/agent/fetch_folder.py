"""Step fetch for a folder that is on the host already: looked at and, where that is wanted, hashed; never changed."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Callable

from agent import checkpoint_record, checkpoint_verify, fetch_body, folder_hashes, job, paths
from agent.checkpoint_verify import Expected
from agent.failure import AgentFailure

# A load format that reads no weights. Source: vllm/config/load.py, 0.32.0.
WITHOUT_WEIGHTS = "dummy"
_CHANGE = "copy it there again, or download it again"


def run(server_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """FetchResult but for `seconds`. Raises CHECKPOINT_NOT_FOUND and CHECKPOINT_CORRUPT."""
    folder, load_format = paths.expand(wanted["path"]), wanted["loadFormat"]
    is_read = load_format != WITHOUT_WEIGHTS
    try:
        files = checkpoint_verify.of_folder(folder)
        sizes = [(folder / file.path).stat().st_size for file in files if (folder / file.path).exists()]
        is_full = wanted["verify"] == "full" and is_read
        hashable = folder_hashes.expected(folder, load_format) if is_full else []
    except OSError as error:
        raise _unreadable(folder, error) from error
    bad = checkpoint_verify.check(folder, files) if is_read else []
    if bad:
        raise fetch_body.corrupt(str(folder), bad, _CHANGE)
    known = [file for file in hashable if file.digest is not None]
    if known:
        _hash(server_id, folder, known)
    return {
        "revision": None,
        "path": str(folder),
        "files": len(files),
        "bytes": sum(sizes),
        "fetchedBytes": 0,
        "refetched": [],
        "hashed": len(known),
        "unhashed": [file.path for file in hashable if file.digest is None],
    }


def _hash(server_id: str, folder: Path, known: list[Expected]) -> None:
    """By a job: hashing half a terabyte takes longer than many a connection lives."""
    names = [str(folder), *(f"{file.path} {file.digest}" for file in known)]
    key = "verify-" + hashlib.sha256("\0".join(names).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def body(report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        def tell(files: int, done: int, total: int) -> None:
            report(
                {
                    "phase": "verify",
                    "text": str(folder),
                    "done": files,
                    "total": len(known),
                    "bytesDone": done,
                    "bytesTotal": total,
                }
            )

        try:
            bad = checkpoint_verify.check(folder, known, checkpoint_record.hashes_file_of(folder), tell)
        except OSError as error:
            raise _unreadable(folder, error) from error
        if bad:
            raise fetch_body.corrupt(str(folder), bad, _CHANGE)
        return {}

    job.run(key, f"verify {folder}", body, server_id)


def _unreadable(folder: Path, error: OSError) -> AgentFailure:
    return AgentFailure(
        "CHECKPOINT_NOT_FOUND",
        f"Cannot look at checkpoint {folder}: {error.strerror}, need a folder that can be read",
        evidence=error.filename and str(error.filename),
        change="model.path",
    )
