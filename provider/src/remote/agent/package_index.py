"""Reads a simple package index and fetches one checked file of it, for hosts without pip."""

from __future__ import annotations

import hashlib
import http.client
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import IO

from agent import index_page, index_url
from agent.failure import AgentFailure
from agent.index_page import File

TIMEOUT_SECONDS = 30.0
# Where a connection is cut, the rest is asked for.
TRIES = 5
_LARGEST_PAGE = 64 * 1024 * 1024
_BLOCK = 1 << 20


class PackageIndex:
    """`url` may hold a login. `login`: the environment whose proxies and certificates count."""

    def __init__(self, url: str, login: Mapping[str, str]) -> None:
        self.url = url
        self.shown = index_url.without_login(url)
        certificates = login.get("SSL_CERT_FILE") or login.get("REQUESTS_CA_BUNDLE") or None
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler(_proxies(url, login)),
            urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=certificates)),
        )

    def files(self, name: str) -> list[File]:
        """All files of a package. Raises INSTALL_FAILED where the index does not answer or does not have it."""
        try:
            with self._open(
                index_url.with_path(self.url, name + "/"), {"Accept": index_page.ACCEPT}
            ) as answer:
                text = answer.read(_LARGEST_PAGE).decode("utf-8", "replace")
                return index_page.files(text, answer.url, answer.headers.get("Content-Type") or "")
        except ValueError as error:
            raise self._failure(f"its page of {name} cannot be read ({error})") from error
        except (OSError, http.client.HTTPException) as error:
            raise self._failure(f"its page of {name} breaks off ({error})", True) from error

    def fetch(self, file: File, target: IO[bytes]) -> None:
        """Writes the file to `target`, which is empty. Raises INSTALL_FAILED unless its hash is what the index says."""
        if file.sha256 is None:
            raise self._failure(f"it tells no sha256 of {file.name}")
        digest = hashlib.sha256()
        received = 0
        for _attempt in range(TRIES):
            headers = {"Range": f"bytes={received}-"} if received else {}
            with self._open(file.url, headers) as answer:
                if received and answer.status != 206:
                    target.seek(0)
                    target.truncate()
                    digest, received = hashlib.sha256(), 0
                left = answer.length
                while True:
                    block = _read(answer)
                    target.write(block)
                    digest.update(block)
                    received += len(block)
                    left = None if left is None else left - len(block)
                    if not block or left == 0:
                        break
            if digest.hexdigest() == file.sha256:
                return
            if not left:
                raise self._failure(
                    f"{file.name} has sha256 {digest.hexdigest()}, need {file.sha256} as the index says"
                )
        raise self._failure(f"{file.name} breaks off, {TRIES} times, now after {received} bytes", True)

    def _open(self, url: str, headers: Mapping[str, str]) -> http.client.HTTPResponse:
        request = urllib.request.Request(index_url.without_login(url), headers=dict(headers))
        is_same_host = index_url.host_of(url) == index_url.host_of(self.url)
        authorization = index_url.login_header(url) or (
            index_url.login_header(self.url) if is_same_host else None
        )
        if authorization is not None:
            # Not to whoever it is sent on to.
            request.add_unredirected_header("Authorization", authorization)
        try:
            answer: http.client.HTTPResponse = self._opener.open(request, timeout=TIMEOUT_SECONDS)
            return answer
        except urllib.error.HTTPError as error:
            error.close()
            raise self._failure(f"it answers {error.code} {error.reason}", error.code >= 500) from None
        except urllib.error.URLError as error:
            raise self._failure(f"it cannot be reached ({error.reason})", True) from None
        except (OSError, http.client.HTTPException) as error:
            raise self._failure(f"it cannot be reached ({error})", True) from None

    def _failure(self, found: str, is_retryable: bool = False) -> AgentFailure:
        return AgentFailure(
            "INSTALL_FAILED",
            f"Cannot use the package index {self.shown}: {found}",
            change="vllm.indexUrl, or the way from the host to it",
            retryable=is_retryable,
        )


def _read(answer: http.client.HTTPResponse) -> bytes:
    """Nothing where the connection is cut."""
    try:
        return answer.read(_BLOCK)
    except (OSError, http.client.HTTPException):
        return b""


def _proxies(url: str, login: Mapping[str, str]) -> dict[str, str]:
    host = index_url.host_of(url).rpartition("@")[2].partition(":")[0]
    for entry in (login.get("no_proxy") or login.get("NO_PROXY") or "").split(","):
        suffix = entry.strip().lstrip(".")
        if suffix and (suffix == "*" or host == suffix or host.endswith("." + suffix)):
            return {}
    found = {
        kind: login.get(f"{kind}_proxy") or login.get(f"{kind.upper()}_PROXY") for kind in ("http", "https")
    }
    return {kind: proxy for kind, proxy in found.items() if proxy}
