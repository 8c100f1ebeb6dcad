"""A process that not even SIGKILL ends, for as long as a test wants: the old freezer keeps it in the kernel."""

from __future__ import annotations

import secrets
import time
import unittest
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Callable

_ROOT = Path("/sys/fs/cgroup/freezer")


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    """Skips the test where there is no such freezer, or it is not ours to use; the unified one lets SIGKILL through."""
    group = _ROOT / f"pvllm-test-{secrets.token_hex(4)}"
    try:
        group.mkdir()
    except OSError as error:
        raise unittest.SkipTest(f"no freezer of the first kind here: {error}") from error
    try:
        (group / "cgroup.procs").write_text(str(pid))
        (group / "freezer.state").write_text("FROZEN")
        _until(lambda: (group / "freezer.state").read_text().strip() == "FROZEN")
        yield
    finally:
        (group / "freezer.state").write_text("THAWED")
        _until(lambda: _is_removed(group))


def _is_removed(group: Path) -> bool:
    """Once what was killed in it has ended; what was not goes back to where it came from."""
    for pid in (group / "cgroup.procs").read_text().split():
        with suppress(OSError):
            (_ROOT / "cgroup.procs").write_text(pid)
    with suppress(OSError):
        group.rmdir()
    return not group.exists()


def _until(claim: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not claim():
        if time.monotonic() > end:
            raise TimeoutError("the freezer does not do as it is told")
        time.sleep(0.01)
