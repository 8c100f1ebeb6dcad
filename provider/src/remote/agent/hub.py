"""What a hub says about a checkpoint before anything is downloaded: its commit, its files, and whether we may have them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional
from urllib.parse import quote, urlsplit

from agent import hub_errors, hub_http, hub_unreached
from agent.hub_cache import File
from agent.hub_http import Hub, Reply
from agent.hub_unreached import Wish

DEFAULT_REVISION = "main"
# Pages hold a thousand files: a hub that never ends is no hub.
MOST_PAGES = 1000

_SHA = re.compile(r"[0-9a-f]{40}")
_BLOB = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NEXT = re.compile(r'<([^>]*)>\s*;[^,]*\brel="?next\b')
_YES = ("1", "ON", "YES", "TRUE")


def resolve(hub: Hub, repo: str, revision: Optional[str]) -> str:
    """The commit (40 hex) that a branch or tag names now; None: the default branch. A whole hash is asked for too.

    Raises HUB_GATED, HUB_REPO_NOT_FOUND, HUB_REVISION_NOT_FOUND, HUB_UNREACHABLE, HUB_RATE_LIMITED, as all here do.
    """
    wish = Wish(repo, revision or DEFAULT_REVISION)
    reply = _fine(hub, wish, "GET", f"/api/models/{quote(repo)}/revision/{quote(wish.revision, safe='')}")
    told = _json(hub, wish, reply)
    sha = told.get("sha") if isinstance(told, dict) else None
    if not isinstance(sha, str) or _SHA.fullmatch(sha) is None:
        raise hub_unreached.no_hub(hub, wish, "it names no commit of it", reply.body)
    return sha


def tree(hub: Hub, repo: str, sha: str) -> list[File]:
    """Every file of the commit, in the hub's order. `blob` has 64 digits (sha256) for LFS files, 40 (git) for the rest."""
    wish = Wish(repo, sha)
    return [_file(hub, wish, entry) for entry in _entries(hub, wish) if entry.get("type") == "file"]


def demand_access(hub: Hub, repo: str, sha: str, files: Sequence[File]) -> None:
    """Asks for the head of the largest of `files`: lists of a gated repository are public, its files are not."""
    if files:
        path = max(files, key=lambda file: file.size).path
        _fine(hub, Wish(repo, sha), "HEAD", _place(repo, sha, path))


def read(hub: Hub, repo: str, sha: str, path: str) -> bytes:
    """One small file: an index, a config."""
    return _fine(hub, Wish(repo, sha), "GET", _place(repo, sha, path)).body


def offline_variable(environment: Mapping[str, str]) -> Optional[str]:
    """Which variable of the login says that no hub may be asked; None: none does."""
    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    return next((name for name in names if environment.get(name, "").upper() in _YES), None)


def _place(repo: str, sha: str, path: str) -> str:
    return f"/{quote(repo)}/resolve/{sha}/{quote(path)}"


def _fine(hub: Hub, wish: Wish, method: str, path: str) -> Reply:
    variable = offline_variable(hub.environment)
    if variable is not None:
        raise hub_unreached.offline(hub, wish, variable)
    try:
        reply = hub_http.ask(hub, method, path)
    except hub_http.NoReply as none:
        raise hub_unreached.no_reply(hub, wish, none.reason) from none
    if not reply.is_fine:
        raise hub_errors.refused(hub, wish, reply)
    return reply


def _json(hub: Hub, wish: Wish, reply: Reply) -> Any:
    try:
        return json.loads(reply.body)
    except ValueError:
        raise hub_unreached.no_hub(hub, wish, "what it answers is no JSON", reply.body) from None


def _entries(hub: Hub, wish: Wish) -> Iterator[dict[str, Any]]:
    place = f"/api/models/{quote(wish.repo)}/tree/{wish.revision}"
    query: Optional[str] = "recursive=true&expand=false"
    for _ in range(MOST_PAGES):
        reply = _fine(hub, wish, "GET", f"{place}?{query}")
        page = _json(hub, wish, reply)
        if not isinstance(page, list) or not all(isinstance(entry, dict) for entry in page):
            raise hub_unreached.no_hub(hub, wish, "what it answers is no list of files", reply.body)
        yield from page
        found = _NEXT.search(reply.headers.get("Link") or "")
        if found is None:
            return
        # Of the link only what it asks: a mirror hands out its origin's links, which would lead past it.
        query = urlsplit(found.group(1)).query
    raise hub_unreached.no_hub(hub, wish, "its list of files does not end", b"")


def _file(hub: Hub, wish: Wish, entry: dict[str, Any]) -> File:
    lfs = entry.get("lfs")
    path, size = entry.get("path"), entry.get("size")
    blob = lfs.get("oid") if isinstance(lfs, dict) else entry.get("oid")
    if isinstance(lfs, dict):
        size = lfs.get("size", size)
    # They become names of files on this host.
    is_path = isinstance(path, str) and not path.startswith("/") and ".." not in path.split("/")
    if not is_path or not isinstance(size, int) or not isinstance(blob, str) or not _BLOB.fullmatch(blob):
        raise hub_unreached.no_hub(
            hub, wish, "its list has a file that cannot be one", json.dumps(entry).encode()
        )
    return File(str(path), size, blob)
