"""Requests to the hub: /api/models/..., and /org/name/resolve/REVISION/PATH."""

import http.server
import json
import re
import socket
from dataclasses import replace
from urllib.parse import parse_qs, quote, unquote, urlsplit

from . import access, body, content, listings

_NAME = r"(?P<repo>[^/]+(?:/[^/]+)?)"
_ROUTES = [
    ("info", re.compile(rf"/api/models/{_NAME}(?:/revision/(?P<rev>[^/]+))?")),
    ("refs", re.compile(rf"/api/models/{_NAME}/refs")),
    ("tree", re.compile(rf"/api/models/{_NAME}/tree/(?P<rev>[^/]+)(?:/(?P<path>.*))?")),
    ("paths", re.compile(rf"/api/models/{_NAME}/paths-info/(?P<rev>[^/]+)")),
    ("file", re.compile(rf"/{_NAME}/resolve/(?P<rev>[^/]+)/(?P<path>.+)")),
    ("blob", re.compile(rf"/cdn/{_NAME}/resolve/(?P<rev>[^/]+)/(?P<path>.+)")),
]
_ROUTES = sorted(_ROUTES, key=lambda row: row[0] in ("info", "file"))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Set by the listener: the Hub, and whether this is its host for big files.
    hub = None
    is_cdn = False

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def do_GET(self):
        # What a proxy is asked for is a whole URL.
        url = urlsplit(self.path)
        self.url_path, self.query = url.path, url.query
        self.hub.counts.request(self.command, self.path, "cdn" if self.is_cdn else "hub")
        try:
            self._answer()
        except access.Refusal as refusal:
            code = {"X-Error-Code": refusal.code} if refusal.code else {}
            message = {**code, "X-Error-Message": refusal.message}
            self._reply(refusal.status, {"error": refusal.message}, message)
        except (body.Cut, OSError):
            self.close_connection = True
            self._abort()

    do_HEAD = do_GET
    do_POST = do_GET

    def _answer(self):
        path = self.url_path
        failed = self.hub.faults.take("status", path=path)
        if failed is not None:
            wait = {} if failed.retryAfter is None else {"Retry-After": str(failed.retryAfter)}
            return self._reply(failed.status, {"error": "as asked"}, wait)
        if self.hub.faults.take("html", path=path) is not None:
            return self._write(200, b"<html>Please log in</html>", {"Content-Type": "text/html"})
        token = access.token_of(self.headers)
        if self.is_cdn and token is not None:
            self.hub.leaked_tokens.append(token)
        for kind, pattern in _ROUTES:
            found = pattern.fullmatch(path)
            if found is not None and (kind == "blob") == self.is_cdn:
                parts = {name: unquote(part) for name, part in found.groupdict().items() if part is not None}
                return self._serve(kind, parts, token)
        return self._reply(404, {"error": "Sorry, we can't find the page you are looking for."}, {})

    def _serve(self, kind, parts, token):
        hub = self.hub
        if kind == "blob":
            revision = hub.repositories[parts["repo"]].revision(parts["rev"])
            return self._send_file(parts["repo"], revision, revision.files[parts["path"]])
        repository = access.demand_sight(hub.repositories.get(parts["repo"]), token, hub.invalid_tokens)
        if repository.moved_to:
            moved = self.path.replace(quote(repository.name), quote(repository.moved_to), 1)
            return self._reply(307, {}, {"Location": moved})
        if kind == "refs":
            return self._reply(200, listings.refs(repository), {})
        revision = access.demand_revision(repository, parts.get("rev", "main"))
        if kind == "info":
            return self._reply(200, listings.info(repository, revision), {})
        if kind == "tree":
            url = hub.url + self.url_path
            entries, link = listings.tree(revision, parts.get("path", ""), self.query, url, hub.page_entries)
            return self._reply(200, entries, {} if link is None else {"Link": link})
        if kind == "paths":
            return self._reply(200, listings.paths_info(revision, self._asked_paths()), {})
        access.demand_files(repository, token)
        file = access.demand_entry(revision, parts["path"])
        if file.is_lfs and hub.cdn_url is not None:
            return self._redirect(repository, revision, file)
        return self._send_file(repository.name, revision, file)

    def _redirect(self, repository, revision, file):
        headers = {
            "X-Repo-Commit": revision.sha,
            "X-Linked-Etag": f'"{file.etag()}"',
            "X-Linked-Size": str(file.size_bytes),
            "Location": f"{self.hub.cdn_url}/cdn/{repository.name}/resolve/{revision.sha}/{quote(file.path)}",
        }
        self.hub.counts.asked(repository.name, file.path, "HEAD", None)
        self._reply(302, {}, headers)

    def _send_file(self, repository_name, revision, file):
        etag = file.etag()
        file = self._delivered(revision, file)
        size_bytes = file.size_bytes
        headers = {"ETag": f'"{etag}"', "X-Repo-Commit": revision.sha, "Accept-Ranges": "bytes"}
        try:
            asked = body.asked_range(self.headers.get("Range"), size_bytes)
        except ValueError:
            return self._reply(416, {}, {"Content-Range": f"bytes */{size_bytes}"})
        start, end = asked or (0, size_bytes - 1)
        self.hub.counts.asked(repository_name, file.path, self.command, asked)
        if asked is not None:
            headers["Content-Range"] = f"bytes {start}-{end}/{size_bytes}"
        self._head(
            200 if asked is None else 206,
            end + 1 - start,
            {"Content-Type": "application/octet-stream", **headers},
        )
        if self.command != "HEAD":
            with self.hub.counts.stream():
                body.send(self.connection, self.hub, repository_name, file, start, end)

    def _delivered(self, revision, file):
        """The file with what is sent in its place; a HEAD tells of it and does not use it up."""
        find = self.hub.faults.look if self.command == "HEAD" else self.hub.faults.take
        swap = find("swap", file.path)
        sent = file.content if swap is None else revision.files[swap.other].content
        short = find("short", file.path)
        return replace(file, content=sent if short is None else content.Short(sent, short.toBytes))

    def _asked_paths(self):
        text = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        if text.startswith("{"):
            return json.loads(text)["paths"]
        return parse_qs(text).get("paths", [])

    def _reply(self, status, value, headers):
        self._write(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})

    def _write(self, status, text, headers):
        self._head(status, len(text), headers)
        if self.command != "HEAD":
            self.wfile.write(text)

    def _head(self, status, size_bytes, headers):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(size_bytes)}.items():
            self.send_header(name, value)
        self.end_headers()

    def _abort(self):
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the client was faster

    def log_message(self, *_arguments):
        pass
