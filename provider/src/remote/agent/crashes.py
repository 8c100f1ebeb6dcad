"""How a server that died came to that: the first and the last failure of its crash loop, each with its log."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Optional

from agent import crash_loop, log_marker, log_tail, logs, paths, records, redact, restart_policy
from agent.registry import Server

# Of each log so much of its beginning and of its end: the client looks for the cause, and causes stand there.
PART_BYTES = 64 * 1024

# A server that is starting is told of when it is by itself that it does: then something has died before.
_TOLD = ("crash-looping", "crashed", "restarting", "starting")


def of(server: Server, status: str, tells_past: bool = False) -> list[dict[str, Any]]:
    """`crashes` of core/observed.ts: [], the only failure, or the first and the last one. `tells_past`: of a server that came
    back by itself and is ready the last one too."""
    loop = loop_of(server) if status in _TOLD or (tells_past and status == "ready") else []
    if status == "ready":
        loop = loop[-1:]
    if loop:
        # What an earlier start printed may hold a secret of then.
        redact.also({"secretEnvironment": records.read_json(_folder(server) / "secrets.json")})
    return [_describe(server.server_id, entry) for entry in loop[:1] + loop[1:][-1:]]


def loop_of(server: Server) -> list[Mapping[str, Any]]:
    """Exits of the loop that the last exit belongs to, oldest first; [] when nothing has died since the start that was asked for."""
    launch, run = server.launch or {}, server.run or {}
    asked = launch.get("generation")
    if not isinstance(asked, int) or "restart" not in launch:
        return []
    window = restart_policy.standing(server.server_id, launch)["withinSeconds"]
    return crash_loop.of(run.get("exits") or [], asked, window)


def _folder(server: Server) -> Path:
    return paths.server_folder(server.server_id)


def _describe(server_id: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    ending = {name: entry[name] for name in ("generation", "code", "signal", "at")}
    return {"exit": ending, "log": excerpt(logs.path(server_id, entry["generation"]))}


def excerpt(path: Path) -> Optional[list[dict[str, Any]]]:
    """Stretches of lines, each with the number of its first one in the log as it was written; None: it is not there."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            return list(_stretches(_lines(file, size)))
    except OSError:
        return None


def _lines(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
    """(number, line) of the beginning and of the end."""
    file.seek(0)
    beginning = file.read(PART_BYTES if size > 2 * PART_BYTES else size)
    head, cut = beginning.split(b"\n"), b""
    if len(beginning) < size and len(head) > 1:
        cut = head.pop()
    number = yield from _numbered(head, 1)
    if len(beginning) == size:
        return
    # The line that the end begins in is cut too.
    begin = size - PART_BYTES
    between = log_marker.scan(file, len(beginning) - len(cut), begin)
    file.seek(begin)
    _, _, rest = file.read(PART_BYTES).partition(b"\n")
    number = (number if between.marker is None else between.marker.next_line) + between.newlines_after
    yield from _numbered(rest.split(b"\n"), number + 1)


def _numbered(lines: list[bytes], number: int) -> Generator[tuple[int, bytes], None, int]:
    """Returns the number of the line after the last one."""
    if lines and not lines[-1]:
        lines.pop()
    for line in lines:
        found = log_marker.matches(line)
        if found is None:
            yield number, line
            number += 1
        else:
            number = int(found.group(3))
    return number


def _stretches(lines: Iterable[tuple[int, bytes]]) -> Iterator[dict[str, Any]]:
    stretch: Optional[dict[str, Any]] = None
    for number, line in lines:
        if stretch is not None and number == stretch["first"] + len(stretch["lines"]):
            stretch["lines"].append(redact.hide(log_tail.readable(line)))
            continue
        if stretch is not None:
            yield stretch
        stretch = {"first": number, "lines": [redact.hide(log_tail.readable(line))]}
    if stretch is not None:
        yield stretch
