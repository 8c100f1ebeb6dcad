"""Where a declared checkpoint comes from: its hub, and the client that fetches from it. Each is looked for when it is needed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Callable, Optional

from agent import (
    executable,
    hf_client,
    hf_install,
    hub,
    hub_cache,
    hub_known,
    hub_login,
    index_url,
    job,
    selection,
)
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
        """What the declaration comes to now; a branch that was resolved before stays where it was. The hub is not asked for a
        commit of which all is there, whoever brought it, nor on a host that is to stay offline."""
        wanted = self.wanted
        cached = self._cached()
        if cached is not None:
            return cached
        revision = hub.resolve(self.hub, wanted["repo"], wanted["resolved"] or wanted["revision"])
        read = partial(hub.read, self.hub, wanted["repo"], revision)
        return self._checkpoint(revision, self._chosen(hub.tree(self.hub, wanted["repo"], revision), read))

    def _cached(self) -> Optional[Checkpoint]:
        """None: the cache does not say which files it has, or not all of them are there."""
        wanted = self.wanted
        revision = wanted["resolved"] or wanted["revision"]
        if not hub_known.is_commit(revision):
            if hub.offline_variable(self.login) is None:
                return None
            revision = hub_known.commit_of(self._snapshot(revision or hub.DEFAULT_REVISION))
        snapshot = self._snapshot(revision or "")
        files = hub_known.files(snapshot)
        if files is None:
            return None
        index = self._index_in_doubt(files)
        if index is not None and not snapshot.is_there(next(file for file in files if file.path == index)):
            return None
        chosen = self._chosen(files, lambda path: (snapshot.folder / path).read_bytes())
        checkpoint = self._checkpoint(snapshot.revision, chosen)
        return None if checkpoint.missing() else checkpoint

    def _snapshot(self, revision: str) -> Snapshot:
        wanted = self.wanted
        return Snapshot(hub_cache.folder(wanted["cacheDir"], self.login), wanted["repo"], revision)

    def _checkpoint(self, revision: str, files: Sequence[File]) -> Checkpoint:
        wanted = self.wanted
        endpoint: Optional[str] = wanted["endpoint"]
        return Checkpoint(
            snapshot=self._snapshot(revision),
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

    def _chosen(self, files: Sequence[File], read: Callable[[str], bytes]) -> list[File]:
        wanted = self.wanted
        load_format, include = wanted["loadFormat"], wanted["include"]
        index = self._index_in_doubt(files)
        indexed = None if index is None else _named(read(index))
        chosen = selection.select(files, load_format, include, wanted["exclude"], indexed)
        selection.demand_weights(wanted["repo"], chosen, load_format, include)
        return chosen.files

    def _index_in_doubt(self, files: Sequence[File]) -> Optional[str]:
        wanted = self.wanted
        return (
            None if wanted["include"] is not None else selection.index_in_doubt(files, wanted["loadFormat"])
        )


def _named(index: bytes) -> Optional[set[str]]:
    """Shards that the index names; None where it is none: the names of the files have to do then."""
    try:
        return {str(shard) for shard in json.loads(index)["weight_map"].values()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
