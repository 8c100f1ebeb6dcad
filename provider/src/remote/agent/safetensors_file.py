"""Whether a safetensors file is whole, told by its header alone.

Format: 8 bytes length of the header, little endian; the header, JSON; the tensors up to the largest of data_offsets.
Source: safetensors, README "Format".
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Optional

LENGTH_BYTES = 8
# Source: safetensors/src/tensor.rs, MAX_HEADER_SIZE.
LARGEST_HEADER_BYTES = 100_000_000


def fault(path: Path) -> Optional[str]:
    """Why the file is not whole; None: it is. Raises OSError."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
        if size < LENGTH_BYTES:
            return "it has %d bytes, too few for a safetensors header" % size
        if length > LARGEST_HEADER_BYTES:
            return "its header would have %d bytes: it is no safetensors file, or damaged" % length
        if LENGTH_BYTES + length > size:
            return "it ends within its header (%d of %d bytes)" % (size, LENGTH_BYTES + length)
        text = file.read(length)
    try:
        end = _end_of_data(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError):
        return "its header is damaged"
    wanted = LENGTH_BYTES + length + end
    if wanted != size:
        return "it has %d bytes, its header says %d" % (size, wanted)
    return None


def _end_of_data(header: dict[str, dict[str, list[int]]]) -> int:
    ends = [int(tensor["data_offsets"][1]) for name, tensor in header.items() if name != "__metadata__"]
    return max(ends, default=0)
