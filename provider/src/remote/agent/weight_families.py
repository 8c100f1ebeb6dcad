"""What kind of weights a file of a repository holds, and which kind vLLM would load. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Optional

from agent import weight_rules as rules
from agent.hub_cache import File

_SHARD = re.compile(r"(.*)-\d+-of-(\d+)\.[a-z]+")


def matches(path: str, patterns: Sequence[str]) -> bool:
    """As the hub's client does it. Source: huggingface_hub 2.4.0, utils/_paths.py filter_repo_objects."""
    wanted = (pattern.replace("\\", "/") for pattern in patterns)
    return any(fnmatchcase(path, pattern + "*" if pattern.endswith("/") else pattern) for pattern in wanted)


def of(file: File) -> Optional[str]:
    """A key of rules.SUFFIXES or "consolidated"; None: no weights, or a side file of a model."""
    name = file.path.rpartition("/")[2]
    if fnmatchcase(name, rules.CONSOLIDATED):
        return "consolidated"
    family = next((family for family, suffix in rules.SUFFIXES.items() if name.endswith(suffix)), None)
    if family not in ("bin", "pt") or matches(name, rules.WEIGHT_NAMES):
        return family
    return None if file.size <= rules.LARGEST_SIDE_FILE_BYTES else family


def of_top(files: Sequence[File], load_format: Optional[str]) -> Optional[str]:
    """Of the weights that vLLM would load from the top folder; None: there are none, or it takes them from elsewhere."""
    families = wanted(files, load_format)
    # Their sets often lie in a folder each.
    if "gguf" in families and any(of(file) == "gguf" for file in files):
        return "gguf"
    there = {
        of(file)
        for file in files
        if "/" not in file.path and not is_adapter(file.path) and foreign(file.path) is None
    }
    return next((family for family in families if family in there), None)


def wanted(files: Sequence[File], load_format: Optional[str]) -> tuple[str, ...]:
    """Families that the load format reads, the first one that is there counts; all of them for a plugin's format."""
    families = (
        rules.FORMATS[name].families if (name := known(load_format)) is not None else rules.EVERY_FAMILY
    )
    # Without a config of Transformers, Mistral's layout is the only whole one.
    if "consolidated" in families and all(file.path != "config.json" for file in files):
        return ("consolidated", *(family for family in families if family != "consolidated"))
    return families


def known(load_format: Optional[str]) -> Optional[str]:
    """Its key of rules.FORMATS; None: a plugin's. vLLM reads it in lower case too. Source: config/load.py."""
    name = (load_format or "auto").lower()
    return name if name in rules.FORMATS else None


def foreign(path: str) -> Optional[str]:
    """Why vLLM never reads it; None: it may."""
    return next((row.reason for row in rules.FOREIGN if matches(path, row.patterns)), None)


def is_adapter(path: str) -> bool:
    return fnmatchcase(path.rpartition("/")[2], rules.ADAPTERS)


def is_listed(file: File, family: str) -> bool:
    """Whether an index of that family has to name it, so that it is loaded."""
    is_beside = file.path in rules.BESIDE_THE_INDEX or is_adapter(file.path)
    return "/" not in file.path and of(file) == family and not is_beside


def shard_set(path: str) -> tuple[str, int]:
    """(name without number and suffix, how many there are); a file that is no shard is a set of its own, of 0."""
    found = _SHARD.fullmatch(path)
    return (path.rpartition(".")[0], 0) if found is None else (found.group(1), int(found.group(2)))
