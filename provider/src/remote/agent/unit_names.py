"""Names of the systemd units of a server."""

from __future__ import annotations


def service(server_id: str) -> str:
    return f"pulumi-vllm-{server_id}.service"


def all_of(server_id: str) -> tuple[str, str, str]:
    """The service, the timer that looks after it, and what the timer runs."""
    stem = f"pulumi-vllm-{server_id}"
    return f"{stem}.service", f"{stem}-watch.timer", f"{stem}-watch.service"
