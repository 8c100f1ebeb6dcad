"""What goes wrong at the hub, switched while it runs."""

import threading
import time
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Optional

KINDS = ("throttle", "cut", "stall", "corrupt", "short", "swap", "status", "html")


@dataclass
class Fault:
    """`file` and `path` are globs over the file's path in its repository and over the path of the URL."""

    kind: str
    file: str = "*"
    path: str = "*"
    # None: as often as it applies.
    times: Optional[int] = None
    # cut, stall: bytes of the response's body that still go out.
    afterBytes: int = 0
    # corrupt: this byte of the file is another one.
    atByte: int = 0
    # short: of so many bytes, and said to be.
    toBytes: int = 0
    # swap: the content of that file of the revision is sent.
    other: str = ""
    # throttle: of all responses together.
    bytesPerSecond: int = 0
    # status: the answer, with Retry-After where it is given.
    status: int = 503
    retryAfter: Optional[int] = None

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"Cannot do the fault {self.kind}: there are {', '.join(KINDS)}")


class Faults:
    def __init__(self):
        self._lock = threading.Lock()
        self._now = []
        self._next_slot = 0.0
        self._changed = threading.Event()

    def set(self, faults):
        """These and no others; `faults` are Fault values or their JSON objects."""
        made = [fault if isinstance(fault, Fault) else Fault(**fault) for fault in faults]
        with self._lock:
            self._now, changed = made, self._changed
            self._changed = threading.Event()
            self._next_slot = 0.0
        changed.set()

    def clear(self):
        self.set([])

    def now(self):
        """JSON objects of those that can still strike."""
        with self._lock:
            return [dict(vars(fault)) for fault in self._now if fault.times != 0]

    def take(self, kind, file="", path=""):
        """The fault of that kind that strikes here, counted as one of its times; None: none does."""
        with self._lock:
            fault = self._find(kind, file, path)
            if fault is not None and fault.times is not None:
                fault.times -= 1
            return fault

    def look(self, kind, file):
        """The same without counting."""
        with self._lock:
            return self._find(kind, file, "")

    def is_on(self, fault):
        with self._lock:
            return fault in self._now

    def wait_for_change(self, seconds):
        with self._lock:
            changed = self._changed
        return changed.wait(seconds)

    def pace(self, size_bytes):
        """Returns when that many bytes may go out."""
        with self._lock:
            throttle = self._find("throttle", "", "")
            if throttle is None:
                return
            now = time.monotonic()
            start = max(now, self._next_slot)
            self._next_slot = start + size_bytes / throttle.bytesPerSecond
            wait, changed = self._next_slot - now, self._changed
        changed.wait(wait)

    def chunk_bytes(self, most):
        """How much to send at once: 20 times a second when throttled."""
        with self._lock:
            throttle = self._find("throttle", "", "")
        return most if throttle is None else max(1, min(most, throttle.bytesPerSecond // 20))

    def _find(self, kind, file, path):
        for fault in self._now:
            fits = fnmatchcase(file, fault.file) and fnmatchcase(path, fault.path)
            if fault.kind == kind and fault.times != 0 and fits:
                return fault
        return None
