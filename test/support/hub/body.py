"""Sends a part of a file, with what the faults make of it."""

import re
import select
import socket

from . import content

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


class Cut(Exception):
    """The connection ends here, without a word."""


def asked_range(header, size_bytes):
    """(first, last) of a Range header, None where there is none that is understood. Raises ValueError: outside the file."""
    found = _RANGE.fullmatch(header or "")
    if found is None or found.groups() == ("", ""):
        return None
    first, last = found.groups()
    if first == "":
        start, end = max(0, size_bytes - int(last)), size_bytes - 1
    else:
        start, end = int(first), min(int(last or size_bytes), size_bytes - 1)
    if start > end:
        raise ValueError(header)
    return start, end


def send(connection, hub, repository_name, file, start, end):
    """Sends the bytes start..end, the last one too. Raises Cut."""
    cut = hub.faults.take("cut", file.path)
    stall = hub.faults.take("stall", file.path)
    corrupt = hub.faults.take("corrupt", file.path)
    offset = start
    while offset <= end:
        sent = offset - start
        if cut is not None and sent >= cut.afterBytes:
            raise Cut()
        if stall is not None and sent >= stall.afterBytes:
            _stall(connection, hub, stall)
            stall = None
        length = hub.faults.chunk_bytes(min(content.CHUNK_BYTES, end + 1 - offset))
        for limit in (cut, stall):
            if limit is not None:
                length = min(length, limit.afterBytes - sent)
        chunk = file.content.read(offset, length)
        if corrupt is not None and offset <= corrupt.atByte < offset + len(chunk):
            at = corrupt.atByte - offset
            chunk = chunk[:at] + bytes([chunk[at] ^ 0xFF]) + chunk[at + 1 :]
        hub.faults.pace(len(chunk))
        # Counted first, so that whoever has read it finds it counted.
        hub.counts.sent(repository_name, file.path, len(chunk))
        try:
            connection.sendall(chunk)
        except OSError:
            hub.counts.sent(repository_name, file.path, -len(chunk))
            raise
        offset += len(chunk)


def _stall(connection, hub, stall):
    """Nothing goes out until the fault is lifted. Raises Cut once the client or the hub is gone."""
    while hub.faults.is_on(stall):
        hub.faults.wait_for_change(0.05)
        if hub.is_away or _is_closed(connection):
            raise Cut()


def _is_closed(connection):
    readable, _, _ = select.select([connection], [], [], 0)
    try:
        return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True
