"""What a user is told before a server is started, and before anything is stopped for it: what the host lacks that vLLM may need."""

from __future__ import annotations

from typing import Any

from agent import environment, environments, events, executable, paths, registry, toolchain


def tell(server_id: str, launch: dict[str, Any]) -> None:
    """Emits a note for each. A host may do without: what is built into its wheels needs no compiler."""
    if launch["gpus"]["kind"] == "none" or _is_proven(server_id, launch["executable"]):
        return
    login, temp = executable.login_environment(), paths.temp_folder(server_id)
    given = environment.build(login, launch, server_id, temp, [])
    for line in toolchain.missing(given, launch["executable"]):
        events.emit({"event": "note", "text": line})


def _is_proven(server_id: str, path: str) -> bool:
    """A vllm that somebody has set up by hand, and that the server was started with before."""
    before = registry.load_launch(server_id)
    return environments.name_in(path) == "" and before is not None and before.get("executable") == path
