"""One question to a hub and its answer. The token goes to the hub's own origin and nowhere else."""

from __future__ import annotations

import base64
import http.client
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import Optional
from urllib.parse import unquote, urljoin, urlsplit

from agent import hub_connect, hub_network

# A list of files or an index of shards; the largest known is 30 MiB.
LARGEST_ANSWER = 128 << 20
MOST_REDIRECTS = 5
# Before the second and the third try, after a 5xx, a cut or a silence.
PAUSES_SECONDS = (0.5, 1.5)

_REDIRECTS = (301, 302, 303, 307, 308)
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Hub:
    """`endpoint` without a slash at its end; `environment` is the login's."""

    endpoint: str
    token: Optional[str] = field(repr=False)
    environment: Mapping[str, str] = field(repr=False)

    @property
    def host(self) -> str:
        """For messages: an endpoint may carry a password."""
        parts = urlsplit(self.endpoint)
        return (parts.hostname or self.endpoint) + ("" if parts.port is None else f":{parts.port}")


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Message
    body: bytes

    @property
    def is_fine(self) -> bool:
        """A redirect that was not followed is one too: it says where the file is."""
        return self.status < 400


class NoReply(Exception):
    """`reason`: what the last try ended with."""

    def __init__(self, reason: BaseException) -> None:
        super().__init__(str(reason))
        self.reason = reason


def ask(hub: Hub, method: str, path: str) -> Reply:
    """Asks `path` (quoted, with its query) of the hub, three times at most. Raises NoReply.

    A host that cannot be connected to is tried once: 6 s at most. HEAD stops at a redirect to another host.
    """
    url = hub.endpoint + path
    for pause in (*PAUSES_SECONDS, None):
        try:
            reply = _follow(hub, method, url)
            if reply.status < 500 or pause is None:
                return reply
        except (OSError, http.client.HTTPException) as error:
            reason = _reason(error)
            if pause is None or isinstance(reason, hub_connect.ConnectFailed):
                raise NoReply(reason) from error
        time.sleep(pause)
    raise AssertionError("the last try returns or raises")


def _follow(hub: Hub, method: str, url: str) -> Reply:
    for _ in range(MOST_REDIRECTS):
        reply = _ask_once(hub, method, url)
        target = reply.headers.get("Location")
        if reply.status not in _REDIRECTS or target is None:
            return reply
        target = urljoin(url, target)
        # Where a big file lies is signed for one GET; the answer so far already says all about it.
        if method == "HEAD" and _origin(target) != _origin(hub.endpoint):
            return reply
        if urlsplit(target).scheme not in _DEFAULT_PORTS:
            raise http.client.HTTPException(f"a redirect to {urlsplit(target).scheme}:")
        url = target
    raise http.client.HTTPException(f"more than {MOST_REDIRECTS} redirects")


def _ask_once(hub: Hub, method: str, url: str) -> Reply:
    request = urllib.request.Request(_without_login(url), method=method)
    request.add_header("User-Agent", "pulumi-vllm")
    login = _login(hub)
    if login is not None and _origin(url) == _origin(hub.endpoint):
        request.add_unredirected_header("Authorization", login)
    with hub_network.open_url(request, hub.environment) as response:
        body = b"" if method == "HEAD" else response.read(LARGEST_ANSWER)
        # A read with a limit takes a cut for the end.
        if method != "HEAD" and response.length:
            raise http.client.IncompleteRead(b"", response.length)
        return Reply(response.status, response.headers, body)


def _login(hub: Hub) -> Optional[str]:
    """The token; where there is none, user and password of the endpoint (a mirror's), as the hub's client sends them."""
    if hub.token is not None:
        return f"Bearer {hub.token}"
    parts = urlsplit(hub.endpoint)
    if parts.username is None:
        return None
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return "Basic " + base64.b64encode(login.encode()).decode()


def _without_login(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _origin(url: str) -> tuple[str, str, Optional[int]]:
    parts = urlsplit(url)
    return (parts.scheme, (parts.hostname or "").lower(), parts.port or _DEFAULT_PORTS.get(parts.scheme))


def _reason(error: BaseException) -> BaseException:
    """What stands behind urllib's own wrapping."""
    inner = getattr(error, "reason", None)
    return inner if isinstance(inner, BaseException) else error
