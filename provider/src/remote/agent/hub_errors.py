"""What a hub refuses, as the user can act on it. No text here ever holds a token."""

from __future__ import annotations

import re
from typing import Optional

from agent.failure import AgentFailure
from agent.hub_http import Hub, Reply
from agent.hub_unreached import WAYS, Wish, one_line, unreachable


def refused(hub: Hub, wish: Wish, reply: Reply) -> AgentFailure:
    """The failure behind an answer of 400 or more. Source: huggingface_hub 2.4.0, utils/_http.py hf_raise_for_status."""
    code = reply.headers.get("X-Error-Code")
    message = reply.headers.get("X-Error-Message") or ""
    evidence = _evidence(hub, reply, message)
    if reply.status == 429:
        return _rate_limited(hub, wish, reply, evidence)
    if code == "RevisionNotFound":
        return _no_revision(hub, wish, evidence)
    if code == "GatedRepo":
        return _gated(hub, wish, evidence)
    if message == "Invalid credentials in Authorization header":
        return _token_refused(hub, wish, evidence)
    if code == "RepoNotFound" or reply.status in (401, 404):
        return _no_repository(hub, wish, evidence, is_told=code == "RepoNotFound")
    if reply.status == 403:
        return _forbidden(hub, wish, evidence, is_disabled=message == "Access to this resource is disabled.")
    found = "the proxy wants a login (407)" if reply.status == 407 else f"it answers {reply.status}"
    return unreachable(hub, wish, found, evidence, WAYS, retryable=reply.status >= 500)


def _gated(hub: Hub, wish: Wish, evidence: str) -> AgentFailure:
    page = f"ask for access on the page of {wish.repo} at {hub.host}"
    if hub.token is None:
        found = (
            "its files are gated and no token was sent, need the token of an account that was given access"
        )
        change = f"{page}, then set model.token (or HF_TOKEN on the host) to a token of that account"
    else:
        found = "its files are gated and the token's account has no access, need one that was given access"
        change = f"{page} with the token's account, or set model.token to a token of one that has it"
    return AgentFailure(
        "HUB_GATED", f"Cannot download {wish.repo} from {hub.host}: {found}", evidence, change
    )


def _token_refused(hub: Hub, wish: Wish, evidence: str) -> AgentFailure:
    return AgentFailure(
        "HUB_GATED",
        f"Cannot read {wish.repo} at {hub.host}: the token is not accepted, need a valid one or none",
        evidence,
        "set model.token to a valid token; where none is declared, the one of HF_TOKEN or `hf auth login` on the host is sent",
    )


def _forbidden(hub: Hub, wish: Wish, evidence: str, is_disabled: bool) -> AgentFailure:
    if is_disabled:
        found, change = "the hub has disabled it", "set model.repo to another repository"
    else:
        found = "the token may not read it" if hub.token else "it may not be read without a token"
        change = (
            f"set model.token to one that may read {wish.repo} (a fine-grained token lists what it may read)"
        )
    summary = f"Cannot read {wish.repo} at {hub.host}: {found}, need access"
    return AgentFailure("HUB_REPO_NOT_FOUND" if is_disabled else "HUB_GATED", summary, evidence, change)


def _no_repository(hub: Hub, wish: Wish, evidence: str, is_told: bool) -> AgentFailure:
    whose = "without a token" if hub.token is None else "to the token's account"
    found = f"it does not exist, or is private and not shown {whose} (the hub does not say which)"
    change = f"check the name {wish.repo} in model; if it is private, set model.token to a token of an account that may read it"
    if not is_told:
        change += f"; if {hub.host} is no model hub, set model.endpoint"
    return AgentFailure(
        "HUB_REPO_NOT_FOUND",
        f"Cannot find {wish.repo} at {hub.host}: {found}, need a repository that can be read",
        evidence,
        change,
    )


def _no_revision(hub: Hub, wish: Wish, evidence: str) -> AgentFailure:
    return AgentFailure(
        "HUB_REVISION_NOT_FOUND",
        f"Cannot find revision {wish.revision} of {wish.repo} at {hub.host}: the repository has no such branch, tag or commit, "
        "need one of its own",
        evidence,
        f"set model.revision to a branch, a tag or a whole commit hash (40 hexadecimal digits) of {wish.repo}",
    )


def _rate_limited(hub: Hub, wish: Wish, reply: Reply, evidence: str) -> AgentFailure:
    seconds = _wait_seconds(reply)
    wait = "need to wait" if seconds is None else f"need to wait {seconds} s"
    change = (
        "try again later"
        if hub.token
        else "try again later, or set model.token: accounts have a higher limit"
    )
    summary = f"Cannot ask {hub.host} about {wish.repo}: too many requests came from this host (429), {wait}"
    return AgentFailure("HUB_RATE_LIMITED", summary, evidence, change, retryable=True)


def _wait_seconds(reply: Reply) -> Optional[int]:
    """Retry-After, or the `t` of `RateLimit: "api";r=0;t=55`."""
    found = re.search(r"^\s*(\d+)\s*$", reply.headers.get("Retry-After") or "") or re.search(
        r";\s*t=(\d+)", reply.headers.get("RateLimit") or ""
    )
    return None if found is None else int(found.group(1))


def _evidence(hub: Hub, reply: Reply, message: str) -> str:
    told = message or reply.body[:4096].decode("utf-8", "replace")
    return one_line(hub, f"HTTP {reply.status} {reply.headers.get('X-Error-Code') or ''} {told}")
