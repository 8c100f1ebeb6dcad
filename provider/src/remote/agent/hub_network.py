"""The way from this host to a hub: proxies and certificates of the login environment."""

from __future__ import annotations

import base64
import os
import re
import ssl
import urllib.request
from collections.abc import Mapping
from functools import cache
from typing import Any, Optional
from urllib.parse import unquote, urlsplit

from agent.hub_connect import READ_SECONDS, ConnectFailed, HttpConnection, HttpsConnection

# In the order in which they count: OpenSSL's own, then those of requests and curl, which older clients read.
_CA_FILES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def proxy_for(url: str, environment: Mapping[str, str]) -> Optional[str]:
    """URL of the proxy that the environment names for `url`; None: straight on. Lower-case names count first, as in curl."""
    parts = urlsplit(url)
    if _is_direct(parts.hostname or "", _variable("no_proxy", environment)):
        return None
    proxy = _variable(parts.scheme + "_proxy", environment) or _variable("all_proxy", environment)
    return proxy if not proxy or "://" in proxy else "http://" + proxy


def open_url(request: urllib.request.Request, environment: Mapping[str, str]) -> Any:
    """The response, redirects and refusals too. Raises OSError (URLError, ConnectFailed) and HTTPException."""
    proxy = proxy_for(request.full_url, environment)
    if proxy is not None:
        _go_through(request, proxy)
    # An empty ProxyHandler: those of this process's own environment are not the login's.
    handlers = [urllib.request.ProxyHandler({}), _Http(), _AsItIs()]
    if request.type == "https":
        handlers.append(_Https(_context(environment)))
    return urllib.request.build_opener(*handlers).open(request, timeout=READ_SECONDS)


def _variable(name: str, environment: Mapping[str, str]) -> Optional[str]:
    return environment.get(name) or environment.get(name.upper()) or None


def _is_direct(host: str, no_proxy: Optional[str]) -> bool:
    names = [name.strip().lower() for name in (no_proxy or "").split(",")]
    ends = [re.sub(r":\d+$", "", name.lstrip("*").lstrip(".")) for name in names]
    return "*" in names or any(end and ("." + host).endswith("." + end) for end in ends)


def _go_through(request: urllib.request.Request, proxy: str) -> None:
    parts = urlsplit(proxy)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConnectFailed(f"the proxy is one for {parts.scheme}, and only http ones can be used")
    if parts.username is not None:
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        request.add_header("Proxy-Authorization", "Basic " + base64.b64encode(login.encode()).decode())
    request.set_proxy(parts.netloc.rpartition("@")[2], parts.scheme)


def _context(environment: Mapping[str, str]) -> ssl.SSLContext:
    file = next((environment[name] for name in _CA_FILES if environment.get(name)), None)
    # requests takes a folder there too.
    folder = file if file is not None and os.path.isdir(file) else environment.get("SSL_CERT_DIR") or None
    try:
        return _trusting(None if file == folder else file, folder)
    except OSError as error:
        raise ConnectFailed(f"the certificates in {file or folder} cannot be read ({error})") from error


# To read a bundle takes longer than many an answer.
@cache
def _trusting(file: Optional[str], folder: Optional[str]) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=file, capath=folder)


class _Http(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(HttpConnection, request)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(context=context)
        self._trusted = context

    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(HttpsConnection, request, context=self._trusted)


class _AsItIs(urllib.request.HTTPErrorProcessor):
    """Redirects are for the caller, who knows where the token may go."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response
