"""How long ago a process began, by the clock that its start time is told in."""

from __future__ import annotations

import os
import time


def age_seconds(start_ticks: int) -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME) - start_ticks / os.sysconf("SC_CLK_TCK")
