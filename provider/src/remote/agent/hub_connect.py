"""A connection to a hub that is there in a few seconds, or is told to be missing."""

from __future__ import annotations

import http.client
import queue
import socket
import threading
import time
from typing import Any

# Name, all addresses and handshake together: a firewall that drops packets has to be told, not waited for.
CONNECT_SECONDS = 6.0
# Of one address, so that a dead first one leaves time for the next.
ADDRESS_SECONDS = 3.0
# Of silence once connected. Source: huggingface_hub 2.4.0, constants.py DEFAULT_REQUEST_TIMEOUT.
READ_SECONDS = 10.0


class ConnectFailed(OSError):
    """No connection at all: asking again at once would end the same."""


def _connect(address: tuple[str, int], _timeout: Any = None, _source: Any = None) -> socket.socket:
    """In place of socket.create_connection, which waits for each address in turn, and for the name as long as it likes."""
    end = time.monotonic() + CONNECT_SECONDS
    failure: OSError = socket.timeout("no address of it answers")
    for family, kind, protocol, _, place in _addresses(address, CONNECT_SECONDS):
        left = min(ADDRESS_SECONDS, end - time.monotonic())
        if left <= 0:
            break
        connection = socket.socket(family, kind, protocol)
        try:
            connection.settimeout(left)
            connection.connect(place)
            connection.settimeout(READ_SECONDS)
            return connection
        except OSError as error:
            connection.close()
            failure = error
    raise ConnectFailed(str(failure)) from failure


def _addresses(address: tuple[str, int], seconds: float) -> Any:
    answers: queue.Queue[Any] = queue.Queue()

    def ask() -> None:
        try:
            answers.put(socket.getaddrinfo(address[0], address[1], type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            answers.put(error)

    threading.Thread(target=ask, name="look up a name", daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except queue.Empty:
        answer = socket.timeout("the name servers do not answer")
    if isinstance(answer, Exception):
        raise ConnectFailed(str(answer)) from answer
    return answer


class HttpConnection(http.client.HTTPConnection):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._create_connection = _connect


class HttpsConnection(http.client.HTTPSConnection):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._create_connection = _connect
