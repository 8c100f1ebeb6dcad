"""Files of one start in the server's folder: launch.json, secrets.json, policy.json, serve.yaml, logs/ and tmp/."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent import logs, model_folder, paths, records, restart_policy, stop_intent, temp_files

# Records, configuration and the first pages of a log.
_ROOM_BYTES = 256 * 1024


def demand_room(server_id: str) -> None:
    """Asked before anything is stopped for a start: a full disk must not cost a server that runs."""
    records.demand_room(paths.server_folder(server_id), _ROOM_BYTES)


def config_path(server_id: str) -> Path:
    """The file for vLLM's --config."""
    return paths.server_folder(server_id) / "serve.yaml"


def write_config(server_id: str, text: str) -> None:
    """Left alone where it is so already: when it was changed tells whether the running server has read it."""
    if records.read_text(config_path(server_id)) != text:
        records.write_text(config_path(server_id), text)


def write(
    server_id: str,
    launch: Mapping[str, Any],
    generation: int,
    gpu_uuids: Sequence[str],
    gpu_baseline_mib: Mapping[str, int],
) -> None:
    """Everything the new start needs; takes the stop intent away. Secrets stand in secrets.json and nowhere else."""
    folder = paths.server_folder(server_id)
    temp = paths.temp_folder(server_id)
    plain = {name: value for name, value in launch.items() if name != "secretEnvironment"}
    with records.disk_failures("prepare", folder):
        logs.folder(server_id).mkdir(mode=0o700, parents=True, exist_ok=True)
        temp_files.prepare(temp)
    records.write_json(folder / "secrets.json", launch["secretEnvironment"])
    restart_policy.write(server_id, launch)
    write_config(server_id, launch["configYaml"])
    records.write_json(
        folder / "launch.json",
        {
            **plain,
            "generation": generation,
            "gpuUuids": list(gpu_uuids),
            "gpuBaselineMib": dict(gpu_baseline_mib),
            "brokenLinks": model_folder.broken_links_now(launch["modelPath"]),
            "tempFolder": str(temp),
        },
    )
    stop_intent.withdraw(server_id)
