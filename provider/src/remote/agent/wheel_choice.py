"""Which wheel of a program fits this machine. Pure but for the questions about the machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Optional

# Source: PEP 600 and PEP 656, platform tags.
_GLIBC = re.compile(r"manylinux_(\d+)_(\d+)_(\w+)|manylinux(1|2010|2014)_(\w+)")
_GLIBC_OF_OLD_NAMES = {"1": (2, 5), "2010": (2, 12), "2014": (2, 17)}
_MUSL = re.compile(r"musllinux_(\d+)_(\d+)_(\w+)")


@dataclass(frozen=True)
class Machine:
    # As uname and the tags call it: x86_64, aarch64, ...
    name: str
    # Version of glibc; None: it has another C library, musl then.
    glibc: Optional[tuple[int, int]]


def this_machine() -> Machine:
    try:
        library = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (OSError, ValueError):
        library = ""  # musl does not know the question
    version = re.fullmatch(r"glibc (\d+)\.(\d+).*", library)
    return Machine(os.uname().machine, (int(version[1]), int(version[2])) if version else None)


def choose(file_names: Iterable[str], name: str, version: str, machine: Machine) -> Optional[str]:
    """The wheel of that very version that runs here, the one built for the newest library first."""
    best: Optional[tuple[tuple[int, int], str]] = None
    for file_name in file_names:
        parts = file_name[: -len(".whl")].split("-") if file_name.endswith(".whl") else []
        if len(parts) < 5 or (parts[0].lower(), parts[1]) != (name, version):
            continue
        needs = [_needed(tag, machine) for tag in parts[-1].split(".")]
        fitting = [library for library in needs if library is not None]
        if fitting and (best is None or min(fitting) > best[0]):
            best = (min(fitting), file_name)
    return None if best is None else best[1]


def _needed(tag: str, machine: Machine) -> Optional[tuple[int, int]]:
    """Version of the C library that the tag asks for; None: it does not run here. A musl program of one static file runs
    beside glibc too, but a glibc one is there as well then."""
    glibc = _GLIBC.fullmatch(tag)
    if glibc is not None and machine.glibc is not None:
        version = (
            _GLIBC_OF_OLD_NAMES[glibc.group(4)]
            if glibc.group(4)
            else (int(glibc.group(1)), int(glibc.group(2)))
        )
        is_ours = (glibc.group(3) or glibc.group(5)) == machine.name
        return version if is_ours and version <= machine.glibc else None
    musl = _MUSL.fullmatch(tag)
    if musl is not None and machine.glibc is None and musl.group(3) == machine.name:
        return (int(musl.group(1)), int(musl.group(2)))
    return None
