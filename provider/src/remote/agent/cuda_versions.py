"""What NVIDIA says of drivers, CUDA versions and GPUs. Data."""

from __future__ import annotations

from typing import Optional

# Major version of CUDA -> oldest driver branch that runs programs built with any of its minor versions.
# Source: NVIDIA, CUDA Compatibility, "Minor Version Compatibility", table 1 (as of CUDA 13).
OLDEST_DRIVER_OF_MAJOR: dict[int, int] = {11: 450, 12: 525, 13: 580}

# Driver branch -> the CUDA it came with. PTX is compiled by the driver, which knows what is not newer than itself; minor version
# compatibility does not reach that far.
# Source: NVIDIA, CUDA Toolkit Release Notes, "CUDA Toolkit and Corresponding Driver Versions"; CUDA Compatibility, "Limitations".
CUDA_OF_DRIVER: tuple[tuple[int, tuple[int, int]], ...] = (
    (450, (11, 0)),
    (455, (11, 1)),
    (460, (11, 2)),
    (465, (11, 3)),
    (470, (11, 4)),
    (495, (11, 5)),
    (510, (11, 6)),
    (515, (11, 7)),
    (520, (11, 8)),
    (525, (12, 0)),
    (530, (12, 1)),
    (535, (12, 2)),
    (545, (12, 3)),
    (550, (12, 4)),
    (555, (12, 5)),
    (560, (12, 6)),
    (570, (12, 8)),
    (575, (12, 9)),
    (580, (13, 0)),
    (590, (13, 1)),
)

# Machine code for a compute capability runs on later ones of the same major version too, but for those of Tegra, which are apart.
# Source: PyTorch 2.13, torch/cuda/__init__.py, DEVICE_REQUIREMENT.
ONLY_FOR: dict[int, frozenset[int]] = {
    53: frozenset({53}),
    62: frozenset({62}),
    72: frozenset({72}),
    87: frozenset({87}),
    101: frozenset({101, 110}),
}
NOT_FOR: dict[int, frozenset[int]] = {
    50: frozenset({53}),
    52: frozenset({53}),
    60: frozenset({62}),
    61: frozenset({62}),
    70: frozenset({72}),
    80: frozenset({87}),
    86: frozenset({87}),
    100: frozenset({101}),
}


def cuda_of_driver(branch: int) -> Optional[tuple[int, int]]:
    """The CUDA that a driver of that branch knows at least; None: older than the table. A newer one than the table knows all of it."""
    known = [cuda for oldest, cuda in CUDA_OF_DRIVER if oldest <= branch]
    return known[-1] if known else None


def is_newer_than_known(branch: int) -> bool:
    return branch > CUDA_OF_DRIVER[-1][0]
