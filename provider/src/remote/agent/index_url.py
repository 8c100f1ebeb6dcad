"""URLs of package indexes and of packages: whoever logs in with them is never shown."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from typing import Optional
from urllib.parse import unquote, urlsplit, urlunsplit

from agent import redact

_USERINFO = re.compile(r"(?<=://)[^/\s@]+@")


def without_login(url: str) -> str:
    """The URL, or any text with URLs in it, without `user:password@`."""
    return _USERINFO.sub("", url)


def login_header(url: str) -> Optional[str]:
    """Value of Authorization for a URL that holds a login; None for others."""
    parts = urlsplit(url)
    if parts.username is None and parts.password is None:
        return None
    login = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return "Basic " + base64.b64encode(login.encode()).decode()


def host_of(url: str) -> str:
    """Like files.example:8443."""
    return without_login(url).partition("://")[2].partition("/")[0]


def hide_logins(texts: Iterable[str]) -> None:
    """From here on, no text that leaves the agent or is kept by it shows them. A user name alone is a token where no password follows."""
    secrets: dict[str, str] = {}
    for text in texts:
        for userinfo in _USERINFO.findall(text):
            user, sign, password = userinfo[:-1].partition(":")
            for spelling in (password if sign else user, userinfo[:-1]):
                secrets[spelling] = spelling
                secrets[unquote(spelling)] = unquote(spelling)
    redact.also({"secretEnvironment": secrets})


def with_path(url: str, path: str) -> str:
    """`path` below the URL of an index; a query, some mirrors' token, stays."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + "/" + path))
