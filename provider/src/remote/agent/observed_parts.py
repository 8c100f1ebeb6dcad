"""What an observation tells beside the servers: executables, checkpoints and ports, each looked at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Callable, Optional

from agent import checkpoint, checkpoint_record, executable, overlay_use, paths, port_seen, records
from agent.registry import Server
from agent.side_by_side import Results

_NEEDS = frozenset({"executable", "modelPath", "listen"})


class Parts:
    """Of the queries, and of what other servers were last started with: so that an answer for them needs no further look."""

    def __init__(self, queries: Sequence[dict[str, Any]], others: Sequence[Server]) -> None:
        launches = [
            server.launch for server in others if server.launch is not None and server.launch.keys() >= _NEEDS
        ]
        asked = [query["executable"] for query in queries if "executable" in query]
        self._wishes = _unique([*asked, *(wish for launch in launches for wish in _wishes_of(launch))])
        folders = [query["checkpointPath"] for query in queries if "checkpointPath" in query]
        wishes = [
            launch["checkpointWish"] for launch in launches if _is_download(launch.get("checkpointWish"))
        ]
        self._folders = _unique(map(_folder, [*folders, *wishes, *map(_checkpoint_of, launches)]))
        self._addresses = _unique(
            (listen["address"], listen["port"])
            for listen in [query["listen"] for query in queries] + [launch["listen"] for launch in launches]
        )

    def looks(self, known: Sequence[Server]) -> dict[Any, Callable[[], Any]]:
        """For `side_by_side.run`. Executables one after the other: they share a login, and one may start vLLM."""
        looks: dict[Any, Callable[[], Any]] = {
            "executables": lambda: {wish: executable.find(wish) for wish in self._wishes}
        }
        for folder in self._folders:
            looks["checkpoint", folder] = partial(checkpoint.look, folder)
        for address, port in self._addresses:
            looks["port", address, port] = partial(port_seen.look, address, port, known)
        return looks

    def of_query(self, query: dict[str, Any], seen: Results) -> dict[str, Any]:
        listen = query["listen"]
        return {
            # Not asked for is not the same as null: null means the vllm of the login environment.
            "executable": seen.told("executables")[query["executable"]] if "executable" in query else None,
            "checkpoint": seen.told(("checkpoint", _folder(query["checkpointPath"])))
            if "checkpointPath" in query
            else None,
            "port": seen.told(("port", listen["address"], listen["port"])),
        }

    def tell(self, seen: Results) -> dict[str, Any]:
        """All of them; what could not be looked at is left out, and whoever needs it hears why when it asks."""
        found = seen.told_or_none("executables") or {}
        checkpoints = (seen.told_or_none(("checkpoint", folder)) for folder in self._folders)
        ports = ((place, seen.told_or_none(("port", *place))) for place in self._addresses)
        return {
            "executables": [{"wish": wish, "seen": one} for wish, one in found.items()],
            "checkpoints": [one for one in checkpoints if one is not None],
            "ports": [
                {"address": address, "port": port, "seen": one}
                for (address, port), one in ports
                if one is not None
            ],
        }


def _wishes_of(launch: dict[str, Any]) -> list[Optional[str]]:
    """What its declaration asks for: as it was when it was started, or that very file by its path."""
    wish = launch.get("executableWish")
    return [wish if isinstance(wish, str) else None, launch["executable"]]


def _checkpoint_of(launch: dict[str, Any]) -> str:
    """The folder it serves, or the one that the overlay it serves was made from."""
    model = Path(launch["modelPath"])
    if model.parent != paths.overlays_folder():
        return str(model)
    record = records.read_json(overlay_use.record_path(model.name))
    made_from = record.get("checkpoint") if isinstance(record, dict) else None
    return made_from if isinstance(made_from, str) else str(model)


def _is_download(wish: object) -> bool:
    return checkpoint_record.key_of(wish) is not None


def _folder(wish: str) -> str:
    """A folder under one name; a download by its key."""
    return wish if _is_download(wish) else str(paths.expand(wish))


def _unique(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))
