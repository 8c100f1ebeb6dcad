"""Names of the host's users."""

from __future__ import annotations

import pwd


def name_of(uid: int) -> str:
    """User name, or the number where the host knows none (containers)."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
