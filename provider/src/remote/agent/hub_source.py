"""Where a declared checkpoint comes from: its hub, and the client that fetches from it. Each is looked for when it is needed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Optional

from agent import executable, hf_client, hf_install, hub, hub_cache, hub_login, index_url, job, selection
from agent.checkpoint_record import Checkpoint
from agent.hub_cache import File, Snapshot
from agent.hub_http import Hub


class Source:
    def __init__(self, server_id: str, wanted: dict[str, Any], vllm: Optional[str]) -> None:
        """`wanted` is HubCheckpoint of core/step.ts, `vllm` the executable that is wished."""
        self.server_id = server_id
        self.vllm = vllm
        # Of the job that it is used in.
        self.report: Optional[job.Report] = None
        self.wanted = wanted
        self.login = executable.login_environment()
        index_url.hide_logins(url for url in (wanted["endpoint"], self.login.get("HF_ENDPOINT")) if url)

    @cached_property
    def client(self) -> Path:
        """`hf`; fetched where the host has none."""
        found = hf_client.find(self.server_id, self.vllm)
        if found is not None:
            return found
        title = "install the hub's client"
        done = job.run(hf_install.KEY, title, hf_install.install, self.server_id, self.report)
        return Path(done["path"])

    @cached_property
    def hub(self) -> Hub:
        is_known = self.wanted["endpoint"] or self.login.get("HF_ENDPOINT")
        # Only the client knows the hub that is nobody's choice.
        client = None if is_known else str(self.client)
        return Hub(
            hub_login.endpoint(self.wanted["endpoint"], self.login, client),
            hub_login.token(self.wanted["token"], self.login),
            self.login,
        )

    def resolve(self) -> Checkpoint:
        """What the declaration comes to now; a branch that was resolved before stays where it was."""
        wanted = self.wanted
        revision = hub.resolve(self.hub, wanted["repo"], wanted["resolved"] or wanted["revision"])
        files = self._chosen(revision)
        endpoint: Optional[str] = wanted["endpoint"]
        return Checkpoint(
            snapshot=Snapshot(hub_cache.folder(wanted["cacheDir"], self.login), wanted["repo"], revision),
            declared=wanted["revision"],
            endpoint=None if endpoint is None else index_url.without_login(endpoint),
            load_format=wanted["loadFormat"],
            files=tuple(files),
        )

    def demand_access(self, checkpoint: Checkpoint, files: Sequence[File]) -> None:
        hub.demand_access(self.hub, checkpoint.snapshot.repo, checkpoint.snapshot.revision, files)

    def call(self, checkpoint: Checkpoint, report: Optional[job.Report] = None) -> hf_client.Call:
        """`report`: of the job that it is needed in."""
        self.report = report
        return hf_client.Call(
            self.client, checkpoint.snapshot.cache, self.hub.endpoint, self.hub.token, self.login
        )

    def _chosen(self, revision: str) -> list[File]:
        wanted = self.wanted
        repo, load_format, include = wanted["repo"], wanted["loadFormat"], wanted["include"]
        files = hub.tree(self.hub, repo, revision)
        index = None if include is not None else selection.index_in_doubt(files, load_format)
        indexed = None if index is None else _named(hub.read(self.hub, repo, revision, index))
        chosen = selection.select(files, load_format, include, wanted["exclude"], indexed)
        selection.demand_weights(repo, chosen, load_format, include)
        return chosen.files


def _named(index: bytes) -> Optional[set[str]]:
    """Shards that the index names; None where it is none: the names of the files have to do then."""
    try:
        return {str(shard) for shard in json.loads(index)["weight_map"].values()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
