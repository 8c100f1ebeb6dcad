"""The turn of the whole host: one start at a time, whoever starts it.

Two locks, always in this order. host.lock in the state folder serialises this account, as lock.py does. Other accounts
have state folders of their own, which are closed to us, so a name in the kernel's abstract socket namespace comes on top:
it needs no file that somebody could spoil, delete or own, it goes with the process that holds it, and the kernel itself
says which process of which user that is. It is one per network namespace, as ports are.
"""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Optional

from agent import accounts, lock, paths

# Several hosts on one kernel that share neither ports nor GPUs (test beds, chroots) can have a turn each.
SCOPE_VARIABLE = "PULUMI_VLLM_HOST_SCOPE"
# Whoever holds it answers at once, or is none of us.
_ANSWER_SECONDS = 1.0
_LONGEST_ANSWER = 1000
_LONGEST_NAME = 100
# What another user's process says is shown on a terminal.
_UNPRINTED = re.compile("[^\\x20-\\x7e]+")


def file() -> Path:
    return paths.state_root() / "host.lock"


@contextmanager
def held(client: str, wait_seconds: float) -> Iterator[None]:
    """Holds the turn for the block; it falls with the process whatever happens. Waits no longer than `wait_seconds`
    in all; raises HOST_LOCKED naming the holder then."""
    end = time.monotonic() + wait_seconds
    with lock.held(file(), client, wait_seconds):
        taken = lock.wait_for(_try, _holder, _WORDS, end, wait_seconds)
        with taken as held_socket, _answering(held_socket, client):
            yield


_WORDS = lock.Words(
    waiting="turn of this host,",
    refusal="Cannot start on this host now: another start has its turn,",
)


def name() -> bytes:
    scope = os.environ.get(SCOPE_VARIABLE, "")
    return b"\0pulumi-vllm/start" + (b"/" + os.fsencode(scope) if scope else b"")


def _try() -> Optional[socket.socket]:
    """Listening under the host's name, or None: somebody else is."""
    mine = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        mine.bind(name())
        mine.listen(16)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            mine.close()
            return None
        # A sandbox that forbids such names: the account's own turn is all there is then.
    return mine


@contextmanager
def _answering(held_socket: socket.socket, client: str) -> Iterator[None]:
    """Tells whoever asks who holds the turn."""
    answer = json.dumps({"client": client[:_LONGEST_NAME], "since": lock.utc_now()}).encode()

    def serve() -> None:
        with suppress(OSError):  # shut down: the turn is over
            while True:
                asking = held_socket.accept()[0]
                with asking, suppress(OSError):
                    asking.setblocking(False)
                    asking.send(answer)

    answers = threading.Thread(target=serve, name="host-turn", daemon=True)
    answers.start()
    try:
        yield
    finally:
        # A thread that waits in accept() would keep the name taken.
        with suppress(OSError):
            held_socket.shutdown(socket.SHUT_RDWR)
        answers.join(_ANSWER_SECONDS)


def _holder() -> str:
    """Like: "held by ann@laptop (shop/prod), user ann, since 12:03:11Z"."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.settimeout(_ANSWER_SECONDS)
        try:
            asking.connect(name())
        except OSError:
            return "held by a process that does not answer"
        pid, uid, _gid = struct.unpack("iII", asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        try:
            told = json.loads(asking.recv(_LONGEST_ANSWER))
            client, since = str(told["client"]), lock.short_time(str(told["since"]))
        except (OSError, ValueError, KeyError, TypeError):
            return f"held by pid {pid} of user {accounts.name_of(uid)}, which does not say what it is"
    return f"held by {_printable(client)}, user {accounts.name_of(uid)}, since {_printable(since)}"


def _printable(text: str) -> str:
    return _UNPRINTED.sub(" ", text)[:_LONGEST_NAME]
