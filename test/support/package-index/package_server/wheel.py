"""Wheels made in memory."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Wheel:
    """One wheel. `files` by path in it; `scripts` go to the environment's bin as they are."""

    name: str
    version: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    scripts: Mapping[str, bytes] = field(default_factory=dict)
    # Like {"vllm": "stand_in_vllm.main:main"}.
    console_scripts: Mapping[str, str] = field(default_factory=dict)
    requires: Sequence[str] = ()
    requires_python: str = ">=3.9"
    tags: Sequence[str] = ("py3-none-any",)
    # Random-looking bytes that make a download long.
    padding_bytes: int = 0

    @property
    def distribution(self) -> str:
        return self.name.replace("-", "_")

    @property
    def file_name(self) -> str:
        python, abi, _ = self.tags[0].split("-")
        platforms = ".".join(tag.split("-")[2] for tag in self.tags)
        return f"{self.distribution}-{self.version}-{python}-{abi}-{platforms}.whl"

    def metadata(self) -> bytes:
        lines = ["Metadata-Version: 2.1", f"Name: {self.name}", f"Version: {self.version}"]
        lines += [f"Requires-Python: {self.requires_python}"]
        lines += [f"Requires-Dist: {required}" for required in self.requires]
        return ("\n".join(lines) + "\n").encode()

    def content(self) -> bytes:
        """The same bytes each time: a wheel has one hash."""
        info = f"{self.distribution}-{self.version}.dist-info"
        entries = {**self.files}
        entries |= {
            f"{self.distribution}-{self.version}.data/scripts/{n}": text for n, text in self.scripts.items()
        }
        if self.padding_bytes:
            entries[f"{self.distribution}-padding.bin"] = _noise(self.padding_bytes)
        entries[f"{info}/METADATA"] = self.metadata()
        entries[f"{info}/WHEEL"] = "\n".join(
            [
                "Wheel-Version: 1.0",
                "Generator: test",
                "Root-Is-Purelib: true",
                *(f"Tag: {t}" for t in self.tags),
                "",
            ]
        ).encode()
        if self.console_scripts:
            lines = [f"{name} = {target}" for name, target in self.console_scripts.items()]
            entries[f"{info}/entry_points.txt"] = ("[console_scripts]\n" + "\n".join(lines) + "\n").encode()
        record = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in entries.items()]
        entries[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode()
        return _zipped(entries)


def _zipped(entries: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as file:
        for path, data in entries.items():
            entry = zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if ".data/scripts/" in path else 0o100644) << 16
            file.writestr(entry, data)
    return packed.getvalue()


def _noise(size: int) -> bytes:
    block = hashlib.sha256(b"padding").digest() * 128
    return (block * (size // len(block) + 1))[:size]


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
