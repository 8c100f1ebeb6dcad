"""The page of one package in a simple index. Pure. Source: PEP 503 (HTML), PEP 691 (JSON)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Optional
from urllib.parse import unquote, urldefrag, urljoin

JSON = "application/vnd.pypi.simple.v1+json"
ACCEPT = f"{JSON}, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"


@dataclass(frozen=True)
class File:
    name: str
    url: str
    sha256: Optional[str]


def files(text: str, base: str, content_type: str) -> list[File]:
    """`base`: the URL of the page. Raises ValueError for what is no such page."""
    if "json" not in content_type:
        return _of_html(text, base)
    try:
        return [
            File(entry["filename"], urljoin(base, entry["url"]), entry["hashes"].get("sha256"))
            for entry in json.loads(text)["files"]
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it has no list of files: {error!r}") from error


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Optional[str]]]) -> None:
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href" and value]


def _of_html(text: str, base: str) -> list[File]:
    links = _Links()
    links.feed(text)
    found = []
    for link in links.found:
        url, fragment = urldefrag(urljoin(base, link))
        kind, _, digest = fragment.partition("=")
        name = unquote(url.partition("?")[0].rpartition("/")[2])
        found.append(File(name, url, digest if kind == "sha256" else None))
    return found
