"""What NVIDIA says of drivers, CUDA versions and GPUs. Data."""

from __future__ import annotations

from typing import Optional

# Major version of CUDA -> oldest driver branch that runs programs built with any of its minor versions: minor version compatibility.
# Newer drivers run them too, of whichever major version. An older driver runs them only beside NVIDIA's cuda-compat package, on data
# center GPUs and a few RTX ones; whether that is so shows when it is tried (wheel_fit).
# Source: NVIDIA, CUDA Compatibility, "Minor Version Compatibility", table 1, and "Forward Compatibility" (v590).
OLDEST_DRIVER_OF_MAJOR: dict[int, int] = {11: 450, 12: 525, 13: 580}

# Driver branch -> the CUDA it came with. PTX is compiled by the driver, which knows what is not newer than itself; minor version
# compatibility does not reach that far (cudaErrorUnsupportedPtxVersion).
# Source: up to 560 NVIDIA, CUDA Toolkit Release Notes, "CUDA Toolkit and Corresponding Driver Versions" (first driver of each toolkit:
# 450.36.06, 455.23, 460.27.03, 465.19.01, 470.42.01, 495.29.05, 510.39.01, 515.43.04, 520.61.05, 525.60.13, 530.30.02, 535.54.03,
# 545.23.06, 550.54.14, 555.42.02, 560.28.03); from 570 on NVIDIA's installers cuda_<version>_<driver>_linux.run (12.8.0 570.86.10,
# 12.9.0 575.51.03, 13.0.0 580.65.06, 13.1.0 590.44.01, 13.2.0 595.45.04, 13.3.0 610.43.02), and nvidia-smi of 615.71.09 (13.4).
# There was no toolkit 12.7: driver 565 compiles what 560 does.
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
    (595, (13, 2)),
    (610, (13, 3)),
    (615, (13, 4)),
)

# Machine code for a compute capability runs on later ones of the same major version too, but for those of Tegra, which are apart; code
# with "a" runs on its own alone, code with "f" on its family. Source: PyTorch 2.13, torch/cuda/__init__.py, DEVICE_REQUIREMENT; NVIDIA,
# CUDA Programming Guide, "Compute Capabilities".
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
