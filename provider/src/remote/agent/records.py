"""JSON records on disk: whole or not there, whatever cuts the agent off."""

from __future__ import annotations

import errno
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Optional, Union

from agent.failure import AgentFailure

AnyPath = Union[str, Path]


def read_json(path: AnyPath) -> Any:
    """The value in the file; None when it is missing or is no JSON (another hand wrote it)."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except PermissionError as error:
        raise _cannot("read", path, error) from error


def read_text(path: AnyPath) -> Optional[str]:
    """None: it is not there, or no text."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        return None


def write_json(path: AnyPath, value: Any, mode: int = 0o600) -> None:
    """Replaces the file atomically; missing folders are made 0700.

    Raises AgentFailure DISK_FULL or PERMISSION_DENIED; the old file is then untouched.
    """
    write_text(path, json.dumps(value, indent=1, sort_keys=True) + "\n", mode)


def write_text(path: AnyPath, text: str, mode: int = 0o600) -> None:
    """Like `write_json` for a text, UTF-8."""
    target = Path(path)
    beside = target.with_name(".%s.%d-%s" % (target.name, os.getpid(), secrets.token_hex(4)))
    with disk_failures("write", target):
        make_folder(target.parent)
        try:
            write_new(beside, text, mode)
            os.replace(beside, target)
        except BaseException:
            _remove_quietly(beside)
            raise
        _sync_folder(target.parent)


def write_new(path: AnyPath, text: str, mode: int) -> None:
    """Creates a file that does not exist yet, on disk when this returns. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def make_folder(path: AnyPath) -> None:
    """Makes the folder and missing parents, each 0700: what we keep is nobody else's business."""
    folder = Path(path)
    if folder.is_dir():
        return
    make_folder(folder.parent)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not folder.is_dir():
            raise


def demand_room(folder: AnyPath, size_bytes: int) -> None:
    """Raises DISK_FULL unless that many bytes can be written there now: a quota shows only when one tries."""
    beside = Path(folder) / (".room.%d-%s" % (os.getpid(), secrets.token_hex(4)))
    with disk_failures("keep records in", folder):
        make_folder(folder)
        try:
            write_new(beside, "0" * size_bytes, 0o600)
        finally:
            _remove_quietly(beside)


def free_bytes(path: AnyPath) -> int:
    """Bytes an ordinary user may still write where the path is or would be; 0 when it cannot be told."""
    place = Path(path)
    while True:
        try:
            found = os.statvfs(place)
            return found.f_bavail * found.f_frsize
        except OSError:
            if place == place.parent:
                return 0
            place = place.parent


@contextmanager
def disk_failures(verb: str, path: AnyPath) -> Iterator[None]:
    """Turns an OSError of the block into DISK_FULL or PERMISSION_DENIED where it is one."""
    try:
        yield
    except OSError as error:
        raise _cannot(verb, path, error) from error


@contextmanager
def best_effort() -> Iterator[None]:
    """For records that help but are not needed: a full disk ends the block, and nothing else."""
    try:
        yield
    except AgentFailure as failure:
        if failure.code != "DISK_FULL":
            raise


def _cannot(verb: str, path: AnyPath, error: OSError) -> Exception:
    told = f"[Errno {error.errno}] {error.strerror}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return AgentFailure(
            "DISK_FULL",
            "Cannot %s %s: the disk or quota is full (%d bytes free), need room"
            % (verb, path, free_bytes(path)),
            evidence=told,
            change="free space there, then try again",
            retryable=True,
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return AgentFailure(
            "PERMISSION_DENIED",
            "Cannot %s %s: not permitted for uid %d, need access" % (verb, path, os.getuid()),
            evidence=told,
        )
    return error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        pass  # some network file systems cannot; the rename itself is done
    finally:
        os.close(descriptor)


def _remove_quietly(path: Path) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
