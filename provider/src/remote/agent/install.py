"""Step install: the environment of a declaration, built once however many servers and stacks declare the same."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from agent import environment_check, environment_use, environments, index_url, install_job, job


def run(server_id: str, step: dict[str, Any]) -> dict[str, Any]:
    """installResult of remote/protocol.ts. Raises WHEEL_UNSUITABLE for one that is whole and fits neither GPUs nor driver, and
    what install_job.build raises."""
    wish = step["environment"]
    name = wish["name"]
    started = time.monotonic()
    index_url.hide_logins([wish["indexUrl"] or "", *wish["extraIndexUrls"], *wish["packages"]])
    # Before the look: from here on nobody who tidies up takes it away.
    environment_use.note(server_id, name)
    is_built = False
    if not environments.is_usable(name):
        body = partial(install_job.build, wish, step["timeoutSeconds"])
        is_built = job.run(environments.job_key(name), install_job.title(wish), body, server_id)["built"]
    environment_check.demand_fit(name)
    record = environments.read(name) or {}
    return {
        "executable": str(environments.executable_path(name)),
        "version": record.get("version"),
        "built": is_built,
        "seconds": round(time.monotonic() - started, 2),
    }
