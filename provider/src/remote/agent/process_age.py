"""How long ago a process began, by the clock that its start time is told in."""

from __future__ import annotations

import os
import time


def age_seconds(start_ticks: int) -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME) - start_ticks / os.sysconf("SC_CLK_TCK")


def began_at(start_ticks: int) -> float:
    """The same as a time of the wall clock."""
    return time.time() - age_seconds(start_ticks)
