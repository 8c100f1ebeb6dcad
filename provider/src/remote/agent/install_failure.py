"""Why uv could not build an environment, in words of the declaration. Pure but for the free bytes of the disk."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from agent import records
from agent.failure import AgentFailure

_EVIDENCE_LINES = 14


@dataclass(frozen=True)
class _Reason:
    pattern: str
    # {0} is the first group of the pattern.
    found: str
    change: str
    is_retryable: bool = False


_WAY = "the way from the host to the index (proxy, firewall, vllm.indexUrl), then try again"

# The first that matches counts. Source: what uv 0.13.9 printed when it was made to fail; its documentation, "Resolver internals".
_REASONS = (
    _Reason(
        r"lack of valid authentication credentials|\b401 Unauthorized|\b403 Forbidden",
        "an index or a file wants another login",
        "the login in vllm.indexUrl, vllm.extraIndexUrls or vllm.packages",
    ),
    _Reason(
        r"invalid value '([^']*)' for '--torch-backend",
        "uv knows no torch backend {0}",
        "vllm.torchBackend",
    ),
    _Reason(
        r"Hash mismatch for `([^`]+)`",
        "{0} has another hash than its index says",
        "vllm.indexUrl, or have the index repaired; then try again",
        True,
    ),
    # Where uv takes PyTorch from once a torch backend is named.
    _Reason(
        r"Failed to fetch: .?(https?://\S+/whl/[a-z0-9.]+/)[^ ]* .*?(?:error sending request|dns error|tcp connect error|timed? ?out)",
        "PyTorch's own index cannot be reached, which vllm.torchBackend asks for ({0})",
        "the way from the host to that index, or leave vllm.torchBackend out where your index has PyTorch",
        True,
    ),
    _Reason(
        r"error sending request|dns error|tcp connect error|timed? ?out|error decoding response body|HTTP status server error|"
        r"Network connectivity is disabled",
        "the index or its files cannot be reached",
        _WAY,
        True,
    ),
    _Reason(
        r"there (?:is no|are no) versions? of (vllm\S*)",
        "the index has no {0}",
        "vllm.version, or vllm.indexUrl and vllm.extraIndexUrls",
    ),
    _Reason(
        r"there (?:is no|are no) versions? of (\S+)",
        "the index has no {0}",
        "vllm.packages, or vllm.indexUrl and vllm.extraIndexUrls",
    ),
    _Reason(
        r"(\S+) was not found in the package registry",
        "the index knows no {0}",
        "vllm.indexUrl or vllm.extraIndexUrls, or vllm.packages",
    ),
    _Reason(
        r"(\S+) (?:requires|depends on) Python ?([<>=!~][^ ]*)",
        "{0} wants another Python than this environment has",
        "vllm.python",
    ),
    _Reason(
        r"No interpreter found|No download found|Failed to inspect Python interpreter|requested Python|Python executable",
        "there is no such Python, and uv cannot fetch it",
        "vllm.python",
    ),
    _Reason(
        r"(\S+) has no wheels? with a matching|no wheels? .*usable for this platform",
        "{0} has no wheel for this machine",
        "vllm.version, vllm.python or vllm.indexUrl: wheels for this machine and Python",
    ),
    _Reason(
        r"Failed to build `([^`]+)`",
        "{0} has no wheel for this machine and cannot be built here",
        "vllm.packages or vllm.version: what comes as a wheel; or install what its build needs",
    ),
    _Reason(
        r"Failed to parse|Couldn't parse requirement|Expected one of|Unsupported requirement",
        "a requirement cannot be read",
        "vllm.packages and vllm.version",
    ),
    _Reason(
        r"No solution found when resolving",
        "the packages do not go together",
        "vllm.packages, vllm.version or vllm.torchBackend",
    ),
)
_DISK = re.compile(
    r"No space left on device|os error 28\b|Disk quota exceeded|os error 122\b|File too large|os error 27\b"
)


def of(title: str, code: Optional[int], lines: Sequence[str], folder: Path) -> AgentFailure:
    """`title` follows "Cannot": "install vllm 0.32.0". `lines`: uv's last ones; `code` None: it was ended, out of time."""
    told = [line for line in lines if line.strip()][-_EVIDENCE_LINES:]
    evidence = "\n".join(told) or None
    # uv breaks long sentences.
    text = " ".join(" ".join(lines).split())
    if _DISK.search(text):
        return AgentFailure(
            "DISK_FULL",
            f"Cannot {title}: the disk or quota is full ({records.free_bytes(folder)} bytes free at {folder}), need room; "
            "what was installed so far is removed",
            evidence=evidence,
            change="free space there or in uv's cache (`uv cache prune`), then try again",
            retryable=True,
        )
    if code is None:
        return _failure(
            f"Cannot {title}: it did not end in time, need a faster way to the index or more time",
            evidence,
            _WAY,
            True,
        )
    for reason in _REASONS:
        found = re.search(reason.pattern, text, re.IGNORECASE)
        if found is not None:
            groups = [str(group).rstrip(",.`") for group in found.groups()]
            return _failure(
                f"Cannot {title}: {reason.found.format(*groups)}",
                evidence,
                reason.change,
                reason.is_retryable,
            )
    return _failure(f"Cannot {title}: uv ends with {code}", evidence, "what uv says below", False)


def _failure(summary: str, evidence: Optional[str], change: str, is_retryable: bool) -> AgentFailure:
    return AgentFailure("INSTALL_FAILED", summary, evidence=evidence, change=change, retryable=is_retryable)
