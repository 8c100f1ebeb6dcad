"""Hashes of the files of a checkpoint, remembered for as long as a file stays what it was."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Callable

from agent import records

# A disk of a GPU host reads faster than one core hashes.
THREADS = 4
CHUNK_BYTES = 8 * 1024 * 1024
SHA256_DIGITS = 64


def wrong(wanted: Mapping[Path, str], memory: Path, tell: Callable[[int, int, int], None]) -> dict[Path, str]:
    """Files whose content has another hash than the one wanted, with that. `tell(files, bytes, all bytes)`, from this thread.

    A hash of 64 digits is sha256 of the content, one of 40 is git's sha1 of the blob. `memory` is a JSON file.
    Raises OSError for a file that cannot be read.
    """
    known = records.read_json(memory)
    remembered: dict[str, Any] = known if isinstance(known, dict) else {}
    found: dict[Path, str] = {}
    open_ones: list[Path] = []
    for path, digest in wanted.items():
        entry = remembered.get(str(path))
        if isinstance(entry, list) and entry[:4] == [*_identity(path), _kind(digest)]:
            found[path] = entry[4]
        else:
            open_ones.append(path)
    _hash_all(open_ones, wanted, found, remembered, tell)
    if open_ones:
        records.write_json(memory, remembered)
    return {path: found[path] for path, digest in wanted.items() if found[path] != digest}


def _hash_all(
    files: list[Path],
    wanted: Mapping[Path, str],
    found: dict[Path, str],
    remembered: dict[str, Any],
    tell: Callable[[int, int, int], None],
) -> None:
    done = dict.fromkeys(files, 0)
    total = sum(os.stat(path).st_size for path in files)
    is_wanted = [True]

    def work(path: Path) -> tuple[list[int], str]:
        identity = _identity(path)
        digest = _start(wanted[path], identity[0])
        with open(path, "rb") as file:
            while is_wanted[0]:
                chunk = file.read(CHUNK_BYTES)
                if not chunk:
                    break
                digest.update(chunk)
                done[path] += len(chunk)
        return identity, digest.hexdigest()

    with ThreadPoolExecutor(THREADS) as pool:
        try:
            running = {pool.submit(work, path): path for path in files}
            count = 0
            while running:
                for future in wait(running, timeout=0.5, return_when=FIRST_COMPLETED).done:
                    path = running.pop(future)
                    identity, found[path] = future.result()
                    # Only what did not change meanwhile.
                    if _identity(path) == identity:
                        remembered[str(path)] = [*identity, _kind(wanted[path]), found[path]]
                    count += 1
                tell(count, sum(done.values()), total)
        except BaseException:
            is_wanted[0] = False
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _identity(path: Path) -> list[int]:
    found = os.stat(path)
    return [found.st_size, found.st_mtime_ns, found.st_ino]


def _kind(digest: str) -> str:
    return "sha256" if len(digest) == SHA256_DIGITS else "git"


def _start(digest: str, size: int) -> Any:
    if _kind(digest) == "sha256":
        return hashlib.sha256()
    return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
