"""A small HTTP/1.1 server on a socket that was bound long before: one thread a connection, keep-alive, chunked streams."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Callable

REASONS = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 405: "Method Not Allowed",
    500: "Internal Server Error", 503: "Service Unavailable",
}  # fmt: skip
MAX_HEAD = 65_536


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Response:
    """`body` is the whole text, or pieces to send as they come."""

    status: int = 200
    body: str | Iterator[str] = ""
    content_type: str | None = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


def json_response(value: object, status: int = 200) -> Response:
    return Response(status, json.dumps(value, separators=(",", ":")))


class ClientGone(Exception):
    """The other end closed its connection."""


class HttpServer:
    """`answer` runs in the connection's thread; `log_access` gets (client, request line, status)."""

    def __init__(
        self, answer: Callable[[Request], Response], log_access: Callable[[str, str, int], None]
    ) -> None:
        self.answer = answer
        self.log_access = log_access
        self.busy = 0
        self.stuck = threading.Event()
        self.lock = threading.Lock()
        self.connections: set[socket.socket] = set()
        self.listener: socket.socket | None = None

    def listen(self, bound: socket.socket) -> bool:
        """False, and nobody is told, when somebody else listens on that address already (uvloop swallows the error)."""
        try:
            bound.listen(2048)
        except OSError:
            return False
        self.listener = bound
        threading.Thread(target=self._accept, daemon=True).start()
        return True

    def _accept(self) -> None:
        listener = self.listener
        while listener is not None:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def close(self) -> None:
        """No new connections; idle ones are closed."""
        if self.listener is not None:
            with contextlib.suppress(OSError):
                self.listener.shutdown(socket.SHUT_RDWR)
            self.listener.close()
            self.listener = None

    def _serve(self, client: socket.socket) -> None:
        name = self._peer(client)
        with self.lock:
            self.connections.add(client)
        try:
            client.setsockopt(
                socket.IPPROTO_TCP, socket.TCP_NODELAY, 1
            ) if client.family != socket.AF_UNIX else None
            rest = b""
            while True:
                request, rest = self._read(client, rest)
                if request is None:
                    return
                with self.lock:
                    self.busy += 1
                try:
                    if not self._respond(client, name, request):
                        return
                finally:
                    with self.lock:
                        self.busy -= 1
        except (OSError, ClientGone, ValueError):
            return
        finally:
            with self.lock:
                self.connections.discard(client)
            client.close()

    def _peer(self, client: socket.socket) -> str:
        try:
            peer = client.getpeername()
        except OSError:
            return ""
        return f"{peer[0]}:{peer[1]}" if isinstance(peer, tuple) else ""

    def _read(self, client: socket.socket, rest: bytes) -> tuple[Request | None, bytes]:
        data = rest
        while b"\r\n\r\n" not in data:
            piece = client.recv(65_536)
            if not piece or len(data) > MAX_HEAD:
                return None, b""
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        headers: dict[str, str] = {}
        for line in lines[1:]:
            key, _, value = line.partition(":")
            headers[key.strip().lower()] = value.strip()
        if headers.get("expect", "").lower() == "100-continue":
            client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = int(headers.get("content-length", "0"))
        while len(body) < length:
            piece = client.recv(65_536)
            if not piece:
                return None, b""
            body += piece
        return Request(method, target.split("?", 1)[0], headers, body[:length]), body[length:]

    def _respond(self, client: socket.socket, name: str, request: Request) -> bool:
        response = self.answer(request)
        self.log_access(name, f"{request.method} {request.path} HTTP/1.1", response.status)
        lines: list[str] = [
            f"HTTP/1.1 {response.status} {REASONS.get(response.status, '')}",
            f"date: {time.strftime('%a, %d %b %Y %H:%M:%S GMT', time.gmtime())}",
            "server: uvicorn",
        ]
        lines += [f"{key}: {value}" for key, value in response.headers.items()]
        if response.content_type is not None:
            lines.append(f"content-type: {response.content_type}")
        keep = request.headers.get("connection", "").lower() != "close"
        if not keep:
            lines.append("connection: close")
        if isinstance(response.body, str):
            body = response.body.encode()
            lines.append(f"content-length: {len(body)}")
            client.sendall(
                "\r\n".join([*lines, "", ""]).encode("latin-1") + (b"" if request.method == "HEAD" else body)
            )
            return keep
        lines.append("transfer-encoding: chunked")
        client.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
        for piece in response.body:
            if self.stuck.is_set():
                self._hang(client)
            data = piece.encode()
            client.sendall(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        client.sendall(b"0\r\n\r\n")
        return keep

    def _hang(self, client: socket.socket) -> None:
        """The engine is gone in the middle of a stream: nothing comes any more, the connection stays until the client leaves."""
        while True:
            readable, _, _ = select.select([client], [], [], 1.0)
            if readable and not client.recv(4096):
                raise ClientGone
