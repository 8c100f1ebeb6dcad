"""Serves an index over HTTP, in this process."""

from __future__ import annotations

import base64
import contextlib
import html
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

from .index import Index

_JSON = "application/vnd.pypi.simple.v1+json"
_BLOCK = 65536


@contextlib.contextmanager
def serving(index: Index, port: int = 0, address: str = "127.0.0.1") -> Iterator[str]:
    """URL of the simple index, like http://127.0.0.1:41234/simple; without credentials."""
    server = ThreadingHTTPServer((address, port), _handler(index))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://{address}:{server.server_port}/simple"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(index: Index) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle(self) -> None:
            with contextlib.suppress(ConnectionError):
                super().handle()

        def do_GET(self) -> None:
            path = unquote(self.path.partition("?")[0])
            index.count(path)
            if index.faults.status is not None:
                return self._answer(index.faults.status, b"told to fail")
            if index.login is not None and self.headers.get("Authorization") != _basic(*index.login):
                return self._answer(401, b"who are you?", {"WWW-Authenticate": 'Basic realm="index"'})
            parts = [part for part in path.split("/") if part]
            if parts[:1] == ["simple"] and len(parts) == 2:
                return self._page(parts[1])
            if parts[:1] == ["files"] and len(parts) == 3:
                return self._file(parts[1], parts[2])
            return self._answer(404, b"no such page")

        do_HEAD = do_GET

        def _page(self, name: str) -> None:
            entries = index.entries(name)
            if entries is None:
                return self._answer(404, b"no such package")
            if _JSON in self.headers.get("Accept", ""):
                page = {"meta": {"api-version": "1.1"}, "name": name, "files": entries}
                return self._answer(200, json.dumps(page).encode(), {"Content-Type": _JSON})
            links = [_link(entry) for entry in entries]
            page_html = "<!DOCTYPE html><html><body>\n" + "\n".join(links) + "\n</body></html>\n"
            return self._answer(200, page_html.encode(), {"Content-Type": "text/html"})

        def _file(self, name: str, file_name: str) -> None:
            is_metadata = file_name.endswith(".metadata")
            found = index.files.get(name, {}).get(
                file_name[: -len(".metadata")] if is_metadata else file_name
            )
            if found is None:
                return self._answer(404, b"no such file")
            data = found[1] if is_metadata else found[0]
            wanted = self.headers.get("Range", "")
            if wanted.startswith("bytes="):
                first, _, last = wanted[len("bytes=") :].partition("-")
                start = int(first) if first else max(0, len(data) - int(last))
                end = min(int(last), len(data) - 1) if first and last else len(data) - 1
                headers = {"Content-Range": f"bytes {start}-{end}/{len(data)}"}
                return self._answer(206, data[start : end + 1], headers, is_metadata)
            return self._answer(200, data, {"Accept-Ranges": "bytes"}, is_metadata)

        def _answer(
            self, status: int, body: bytes, headers: dict[str, str] | None = None, whole: bool = True
        ) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "HEAD":
                return
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                if whole:
                    self.wfile.write(body)
                else:
                    self._drip(body)

        def _drip(self, body: bytes) -> None:
            faults = index.faults
            end = len(body)
            with index.lock:
                if faults.cuts_left > 0 and faults.cut_after_bytes is not None:
                    faults.cuts_left -= 1
                    end = min(end, faults.cut_after_bytes)
            rate = faults.bytes_per_second
            block = _BLOCK if rate == 0 else max(1, min(_BLOCK, rate // 20))
            for start in range(0, end, block):
                self.wfile.write(body[start : min(start + block, end)])
                if rate:
                    time.sleep(block / rate)
            if end < len(body):
                self.close_connection = True

        def log_message(self, *arguments: Any) -> None:
            """Tests count requests; nobody reads lines."""

    return Handler


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _link(entry: dict[str, Any]) -> str:
    core = entry["core-metadata"]
    attribute = f' data-core-metadata="sha256={core["sha256"]}"' if core else ""
    url = html.escape(f"{entry['url']}#sha256={entry['hashes']['sha256']}")
    return f'<a href="{url}"{attribute}>{html.escape(entry["filename"])}</a>'
