"""A hub that is not reached, or that is none, as the user can act on it. No text here ever holds a token."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

from agent.failure import AgentFailure
from agent.hub_connect import ConnectFailed
from agent.hub_http import Hub
from agent.hub_network import proxy_for

WAYS = "check model.endpoint (or HF_ENDPOINT) and the proxy settings of the host's login environment"
_ELSEWHERE = "or bring the checkpoint to the host by other means and declare its folder as model.path"


@dataclass(frozen=True)
class Wish:
    """What was asked for. `revision`: a name or a hash."""

    repo: str
    revision: str


def no_reply(hub: Hub, wish: Wish, reason: BaseException) -> AgentFailure:
    """The hub was not reached, or did not answer."""
    proxy = proxy_for(hub.endpoint, hub.environment)
    # Its login stays out of the message.
    way = "" if proxy is None else f" through the proxy {urlsplit(proxy).netloc.rpartition('@')[2]}"
    cause = reason.__cause__ if isinstance(reason, ConnectFailed) and reason.__cause__ else reason
    if isinstance(reason, ssl.SSLCertVerificationError):
        change = "set SSL_CERT_FILE in the host's login environment to the certificates that its network uses"
        found = f"its certificate is not trusted{way}"
        return unreachable(hub, wish, found, str(reason), change, retryable=False)
    if isinstance(cause, socket.gaierror):
        found = f"its name cannot be looked up{way}"
    elif isinstance(cause, ConnectionRefusedError):
        found = f"the connection is refused{way}"
    elif isinstance(cause, socket.timeout):
        found = f"no answer in time{way}"
    else:
        found = f"no answer{way} ({one_line(hub, str(reason) or type(reason).__name__)})"
    change = f"{WAYS}, {_ELSEWHERE}"
    return unreachable(hub, wish, found, one_line(hub, str(reason)), change, retryable=True)


def offline(hub: Hub, wish: Wish, variable: str) -> AgentFailure:
    """The host was told not to ask."""
    return AgentFailure(
        "HUB_UNREACHABLE",
        f"Cannot ask {hub.host} for {wish.repo}: {variable} is set in the host's login environment, need a host that may ask",
        change=f"unset {variable} on the host, {_ELSEWHERE}",
    )


def no_hub(hub: Hub, wish: Wish, found: str, body: bytes) -> AgentFailure:
    """An answer that no hub gives: a login page, a mirror of something else."""
    return unreachable(hub, wish, found, one_line(hub, body[:4096].decode("utf-8", "replace")), WAYS, False)


def unreachable(
    hub: Hub, wish: Wish, found: str, evidence: str, change: str, retryable: bool
) -> AgentFailure:
    summary = f"Cannot ask {hub.host} for {wish.repo}: {found}, need a model hub that answers"
    return AgentFailure("HUB_UNREACHABLE", summary, evidence, change, retryable)


def one_line(hub: Hub, text: str) -> str:
    """The start of it, without the token: hidden first, because a cut could leave half of it."""
    text = text if hub.token is None else text.replace(hub.token, "***")
    return " ".join(text.split())[:300]
