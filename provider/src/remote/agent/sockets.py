"""Who listens on a port, and whether one can be bound."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from typing import Optional

_LISTEN = "0A"

# What stays of closed connections; they stop a plain bind but not vLLM's, which sets SO_REUSEADDR.
_FINISHED = ("04", "05", "06", "08", "09", "0B")


def listeners(port: int) -> list[tuple[int, int, str]]:
    """(inode, uid, address) of every listening TCP socket on the port, IPv4 and IPv6."""
    return [(inode, uid, address) for state, inode, uid, address in _sockets(port) if state == _LISTEN]


def owner_of_inode(inode: int) -> Optional[int]:
    """The lowest pid that holds the socket; None when it cannot be seen (another user's or container's)."""
    owners = owners_of_inode(inode)
    return owners[0] if owners else None


def owners_of_inode(inode: int) -> list[int]:
    """Every visible pid that holds the socket, ascending."""
    wanted = "socket:[%d]" % inode
    pids = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
    return [pid for pid in pids if _holds(pid, wanted)]


def is_bindable(address: str, port: int) -> bool:
    """Plain bind without SO_REUSEADDR: it also sees a server that has bound and does not listen yet.

    Left-overs of closed connections alone do not count. False only for "address in use": any other refusal
    (no such address here, a privileged port) is not another process's doing.
    """
    if _binds(address, port, reuse=False):
        return True
    states = {state for state, _, _, _ in _sockets(port)}
    return bool(states) and states <= set(_FINISHED) and _binds(address, port, reuse=True)


def listening_of(pid: int) -> list[tuple[str, int]]:
    """(address, port) of every TCP socket that the process listens on, by port; [] when it cannot be seen."""
    folder = "/proc/%d/fd" % pid
    try:
        held = {_link(folder + "/" + name) for name in os.listdir(folder)}
    except OSError:
        return []
    rows = (row for row in _rows() if row[0] == _LISTEN and "socket:[%d]" % row[1] in held)
    found = {(_decode(address), port) for _, _, _, address, port in rows}
    return sorted(found, key=lambda place: (place[1], place[0]))


def overlaps(one: str, other: str) -> bool:
    """Whether two listen addresses would meet on one port. The IPv6 wildcard takes IPv4 too (unless its socket says
    otherwise, which nobody else can see); the IPv4 wildcard leaves IPv6 alone."""
    pair = {plain(one), plain(other)}
    if len(pair) == 1 or "::" in pair:
        return True
    return "0.0.0.0" in pair and not any(":" in address for address in pair)


def reachable_address(address: str) -> str:
    """Where a client on the host finds a server that listens on `address`."""
    found = plain(address)
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(found, found)


def _binds(address: str, port: int, reuse: bool) -> bool:
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            plain(address), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            if reuse:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
    except OSError as error:
        return error.errno != errno.EADDRINUSE
    return True


def _holds(pid: int, wanted: str) -> bool:
    folder = "/proc/%d/fd" % pid
    try:
        return any(_link(folder + "/" + name) == wanted for name in os.listdir(folder))
    except OSError:
        return False


def _link(path: str) -> Optional[str]:
    try:
        return os.readlink(path)
    except OSError:
        return None


def _sockets(port: int) -> list[tuple[str, int, int, str]]:
    rows = (row for row in _rows() if row[4] == port)
    return [(state, inode, uid, _decode(address)) for state, inode, uid, address, _ in rows]


def _rows() -> list[tuple[str, int, int, str, int]]:
    """(state, inode, uid, address as the kernel writes it, port) of every TCP socket."""
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table, encoding="ascii") as file:
                rows = file.read().splitlines()[1:]
        except OSError:
            continue  # a kernel without IPv6
        for row in rows:
            fields = row.split()
            address, port = fields[1].split(":")
            found.append((fields[3], int(fields[9]), int(fields[7]), address, int(port, 16)))
    return found


def _decode(text: str) -> str:
    # Words of four bytes, each in the byte order of the machine.
    words = [bytes.fromhex(text[at : at + 8])[::-1] for at in range(0, len(text), 8)]
    return plain(str(ipaddress.ip_address(b"".join(words))))


def plain(address: str) -> str:
    """One spelling per address: IPv4 inside IPv6 as IPv4, and a host name as the IPv4 address that vLLM listens on
    for it, also where it is ::1 first of all. Source: vLLM 0.32.0, entrypoints/launchers/launcher.py:340."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        try:
            return str(socket.getaddrinfo(address, None, socket.AF_INET, socket.SOCK_STREAM)[0][4][0])
        except OSError:
            return address
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or found)
