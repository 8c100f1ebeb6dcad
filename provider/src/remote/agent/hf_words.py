"""What the hub's client says when it fails, and what that means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# Where a traceback leads through, with the line of code below: numbers and names there say nothing of the hub.
_FRAME = re.compile(r'^ *File ".*", line \d+, in .*(?:\n {4,}.*)*', re.MULTILINE)
_SILENCE = re.compile(r"readtimeout|connecttimeout|timed? ?out", re.IGNORECASE)
LONGEST_EVIDENCE = 400


@dataclass(frozen=True)
class Meaning:
    pattern: re.Pattern[str]
    code: str
    found: str
    change: Optional[str]
    # Whether the same call can succeed a little later.
    passes: bool


def _row(pattern: str, code: str, found: str, change: Optional[str] = None, passes: bool = False) -> Meaning:
    return Meaning(re.compile(pattern, re.IGNORECASE), code, found, change, passes)


_TOKEN = "model.token"

# First hit counts. Source: huggingface_hub 2.4.0, cli/_errors.py and utils/_http.py; httpx 0.28; errno texts of glibc.
MEANINGS = (
    _row(r"no space left on device|disk quota exceeded", "DISK_FULL", "the disk is full", "free space there"),
    _row(r"permission denied|read-only file system", "PERMISSION_DENIED", "the cache cannot be written to"),
    _row(
        r"gatedrepo|requires approval|is restricted",
        "HUB_GATED",
        "the hub does not give this token its files",
        _TOKEN,
    ),
    _row(
        r"revision ?not ?found|invalid rev id",
        "HUB_REVISION_NOT_FOUND",
        "the hub has no such revision",
        "model",
    ),
    _row(
        r"repository ?not ?found|model '[^']*' not found|invalid (?:credentials|username or password|user token)"
        r"|\b401 (?:client error|unauthorized)",
        "HUB_REPO_NOT_FOUND",
        "the hub shows no such repository to this token",
        f"model, or {_TOKEN} if it is private",
    ),
    _row(
        r"\b429 client error|too many requests",
        "HUB_RATE_LIMITED",
        "the hub wants fewer requests",
        _TOKEN,
        passes=True,
    ),
    _row(
        r"too large to be downloaded using the regular download method",
        "DOWNLOAD_FAILED",
        "a file is larger than 50 GB, which the client takes by Xet alone, and it has no Xet here",
        "install hf_xet beside the host's `hf` (pip install hf_xet), take HF_HUB_DISABLE_XET out of its login environment, or set "
        "model.endpoint to a hub that offers Xet",
    ),
    _row(
        r"offlinemode|offline mode|hf_hub_offline",
        "HUB_UNREACHABLE",
        "its client is told to stay offline",
        "HF_HUB_OFFLINE",
    ),
    _row(
        r"connect(?:ion)?(?:error|timeout)|connection (?:refused|reset|aborted|broken)|name or service not known|name resolution"
        r"|network is unreachable|timed? ?out|disconnected|peer closed|remoteprotocolerror|readerror|\b50[0234] \w|server error"
        r"|localentrynotfound|local entry not found|cannot find the requested files",
        "HUB_UNREACHABLE",
        "the hub does not answer as it should",
        "model.endpoint",
        passes=True,
    ),
)
UNKNOWN = _row("", "DOWNLOAD_FAILED", "the hub's client failed", None, passes=True)


def meaning_of(output: str) -> Meaning:
    told = _FRAME.sub("", output)
    return next((meaning for meaning in MEANINGS if meaning.pattern.search(told)), UNKNOWN)


def tells_silence(output: str) -> bool:
    """Whether the client gave up because nothing came: it waits as long as it likes, not as long as was declared."""
    return _SILENCE.search(evidence_of(output) or "") is not None


def evidence_of(output: str) -> Optional[str]:
    """The line that says most: the last one that names an error, else the last one."""
    told = _FRAME.sub("", _ANSI.sub("", output).replace("\r", "\n"))
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    telling = [
        line for line in lines if re.search(r"error|denied|not found|fail|timeout", line, re.IGNORECASE)
    ]
    last = (telling or lines)[-1:]
    return last[0][:LONGEST_EVIDENCE] if last else None
