"""The hub's own client, `hf`: which one, how it is called, and what it is told."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from agent import environment, environments, executable, hf_install, paths, registry
from agent.hub_cache import File

# Files at the same time. Source: huggingface_hub 2.4.0, `hf download --help`, its own default.
WORKERS = 8
# One client is one Python process, which over plain HTTP takes 2 to 3 s of processor time for a GB and hardly ever more than one
# core (huggingface_hub 2.4.0). So clients share the files where there are cores for it; by that, four carry about 10 Gbit/s.
MOST_CLIENTS = 4
CORES_PER_CLIENT = 1
# It puts together chunks of 10 MiB out of reads of 64 KiB, and glibc gives that memory back to the kernel each time and asks for it
# anew, page by page: a quarter of its processor time. 32 MiB is the most that all versions of glibc take; other libraries of C
# do not look.
_ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(128 << 20)}

# The client takes no larger file over plain HTTP, only by Xet. Source: huggingface_hub 2.4.0, MAX_HTTP_DOWNLOAD_SIZE.
LARGEST_PLAIN_BYTES = 50_000_000_000

# How it finds the hub and itself, beside what every child gets from the login. Source: huggingface_hub 2.4.0, constants.py.
_FROM_LOGIN = re.compile(r"HF_(?!HUB_OFFLINE$|HUB_CACHE$).*|HUGGING_FACE_HUB_TOKEN")
_QUIET = ("PROGRESS_BARS", "UPDATE_CHECK", "TELEMETRY", "IMPLICIT_TOKEN_WARNING")
# Blobs would be links into a store of the whole cache, from which the client takes a broken one again and again, and where a purge
# frees nothing.
_STORE = "SHARED_BLOBS"
_PATTERN_SIGNS = re.compile(r"[\[*?]")


@dataclass(frozen=True)
class Call:
    """How a client is to reach its hub. `token` goes into its environment, and nowhere else."""

    client: Path
    cache: Path
    endpoint: Optional[str]
    token: Optional[str]
    login: Mapping[str, str]

    def clients(
        self, repo: str, revision: str, files: Sequence[File], is_xet_allowed: bool
    ) -> list[tuple[list[str], dict[str, str]]]:
        """Arguments and environment of each client that gets a share of the files, which are some. Those for which there is no
        other way get Xet whether it is allowed or not."""
        by_xet = [file for file in files if is_xet_allowed or file.size > LARGEST_PLAIN_BYTES]
        plain = [file for file in files if file not in by_xet]
        found = [(True, share) for share in shares(by_xet)] + [(False, share) for share in shares(plain)]
        workers = max(1, WORKERS // len(found))
        return [
            (self.argv(repo, revision, [file.path for file in share], workers), self.environment(is_xet))
            for is_xet, share in found
        ]

    def argv(self, repo: str, revision: str, files: Sequence[str], workers: int) -> list[str]:
        # Older clients take one --include only; names work in all of them: one literally, more of them as patterns.
        names = files if len(files) == 1 else [_PATTERN_SIGNS.sub(r"[\g<0>]", name) for name in files]
        options = ["--revision", revision, "--max-workers", str(workers)]
        return [str(self.client), "download", *options, "--", repo, *names]

    def environment(self, is_xet_allowed: bool) -> dict[str, str]:
        basics = environment.of_login(self.login, str(self.client))
        own = {name: text for name, text in self.login.items() if _FROM_LOGIN.fullmatch(name)}
        told = {
            "HF_HUB_CACHE": str(self.cache),
            **{f"HF_HUB_DISABLE_{name}": "1" for name in (*_QUIET, _STORE)},
        }
        if self.endpoint is not None:
            told["HF_ENDPOINT"] = self.endpoint
        if self.token is not None:
            told["HF_TOKEN"] = self.token
        if not is_xet_allowed:
            told["HF_HUB_DISABLE_XET"] = "1"
        return {**basics, **own, **told, **_ALLOCATOR, "PYTHONUNBUFFERED": "1"}


def shares(files: Sequence[File]) -> list[list[File]]:
    """What each of the clients gets that run at the same time: about as many bytes, larger files first. None for no file."""
    count = max(1, min(MOST_CLIENTS, len(os.sched_getaffinity(0)) // CORES_PER_CLIENT, len(files)))
    found: list[list[File]] = [[] for _ in range(count)]
    for file in sorted(files, key=lambda file: -file.size):
        min(found, key=lambda share: sum(other.size for other in share)).append(file)
    return [share for share in found if share]


def find(server_id: Optional[str], vllm: Optional[str] = None) -> Optional[Path]:
    """Beside the vllm that is wished (None: the login's), the one that the server was last started with, the login's; on the login
    PATH; in an environment of ours; the one that was fetched before. None: the host has none."""
    for path in _places(server_id, vllm):
        if path.is_file() and os.access(path, os.X_OK):
            return path
    return None


def _places(server_id: Optional[str], wished: Optional[str]) -> Iterator[Path]:
    login = executable.login_environment()
    launch = registry.load_launch(server_id) if server_id else None
    last = str((launch or {}).get("executable", ""))
    for vllm in (_path_of(wished, login), last, _path_of(None, login)):
        if vllm:
            yield Path(vllm).parent / "hf"
            yield Path(os.path.realpath(vllm)).parent / "hf"
    on_path = shutil.which("hf", path=login["PATH"])
    if on_path is not None:
        yield Path(on_path)
    for complete in sorted((paths.state_root() / "environments").glob("*/complete.json")):
        yield complete.parent / "bin" / "hf"
    if hf_install.is_complete():
        yield hf_install.program()


def _path_of(vllm: Optional[str], login: Mapping[str, str]) -> str:
    """Of an executable as it is wished; "" where it is not there."""
    if vllm is not None and environments.is_wish(vllm):
        name = environments.name_of_wish(vllm)
        return str(environments.executable_path(name)) if environments.is_usable(name) else ""
    if vllm is not None and "/" in vllm:
        return str(paths.expand(vllm))
    return shutil.which(vllm or "vllm", path=login["PATH"]) or ""
