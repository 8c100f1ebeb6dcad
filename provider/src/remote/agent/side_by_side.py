"""Several looks at once: one that waits for a server which hangs does not hold up the others."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping
from typing import Any, Callable

# They wait for answers and need no processor.
MOST = 32


class Results:
    """By key: what each look told, or how it failed."""

    def __init__(self) -> None:
        self.values: dict[Hashable, Any] = {}
        self.failures: dict[Hashable, Exception] = {}

    def told(self, key: Hashable) -> Any:
        """Raises what the look raised."""
        if key in self.failures:
            raise self.failures[key]
        return self.values[key]

    def told_or_none(self, key: Hashable) -> Any:
        return self.values.get(key)


def run(looks: Mapping[Any, Callable[[], Any]], most: int = MOST) -> Results:
    """Takes all looks, `most` at a time. The agent's deadline interrupts the wait; the threads end with the process."""
    left = list(looks.items())
    results = Results()

    def work() -> None:
        while True:
            try:
                key, look = left.pop(0)
            except IndexError:
                return
            try:
                results.values[key] = look()
            except Exception as error:
                results.failures[key] = error

    workers = [threading.Thread(target=work, daemon=True) for _ in range(min(most, len(left)))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return results
