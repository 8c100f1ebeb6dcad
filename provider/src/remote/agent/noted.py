"""Lists of names that a server keeps in its folder: what it uses or wants, written down before it is made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from agent import paths, records


@dataclass(frozen=True)
class Noted:
    """One such list of every server; `file` is its name in their folders."""

    file: str

    def of(self, server_id: str) -> list[str]:
        found = records.read_json(self._path(server_id))
        return [str(name) for name in found] if isinstance(found, list) else []

    def add(self, server_id: str, name: str) -> None:
        names = self.of(server_id)
        if name not in names:
            self.write(server_id, [*names, name])

    def write(self, server_id: str, names: Iterable[str]) -> None:
        records.write_json(self._path(server_id), list(names))

    def remove(self, server_id: str) -> None:
        self._path(server_id).unlink(missing_ok=True)

    def _path(self, server_id: str) -> Path:
        return paths.server_folder(server_id) / self.file
