"""The default choice: what vLLM loads, and not the copies of it that stand beside. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Optional

from agent import weight_families
from agent import weight_rules as rules
from agent.hub_cache import File


def reasons_against(
    files: Sequence[File], load_format: Optional[str], indexed: Optional[Collection[str]]
) -> dict[str, str]:
    """By path why a file is not taken, for those that are not: everything that is no weights is taken unless foreign."""
    top = weight_families.of_top(files, load_format)
    is_known = weight_families.known(load_format) is not None
    groups = _groups(files)
    found: dict[str, str] = {}
    for file in files:
        family = weight_families.of(file)
        reason = None if family == top == "gguf" else weight_families.foreign(file.path)
        # What a plugin reads only the plugin knows.
        if reason is None and is_known:
            reason = _lost_index(file.path, top)
            if family is not None:
                reason = _copy(file.path, family, top, groups, load_format) or _unlisted(file, top, indexed)
        if reason is not None:
            found[file.path] = reason
    return found


def _groups(files: Sequence[File]) -> dict[tuple[str, bool], set[Optional[str]]]:
    """Families by folder, adapters and models apart: one may be a copy only of another one of its group."""
    groups: dict[tuple[str, bool], set[Optional[str]]] = {}
    for file in files:
        if weight_families.foreign(file.path) is None:
            groups.setdefault(_group(file.path), set()).add(weight_families.of(file))
    return groups


def _group(path: str) -> tuple[str, bool]:
    return path.rpartition("/")[0], weight_families.is_adapter(path)


def _copy(
    path: str,
    family: str,
    top: Optional[str],
    groups: dict[tuple[str, bool], set[Optional[str]]],
    load_format: Optional[str],
) -> Optional[str]:
    folder, is_adapter = _group(path)
    is_of_top = folder == "" and not is_adapter
    # vLLM takes any such file, in any folder, as a sign that the whole repository is of that layout.
    # Source: vLLM 0.32.0, transformers_utils/repo_utils.py is_mistral_model_repo.
    if is_of_top or family == "consolidated":
        if top is None:
            return f"load format {load_format or 'auto'} does not load it"
        return None if family == top else f"a copy: the {top} weights are taken"
    first = next((kind for kind in rules.BELOW if kind in groups.get((folder, is_adapter), ())), family)
    is_copy = family in rules.BELOW and family != first
    return f"a copy: the {first} weights beside it are taken" if is_copy else None


def _lost_index(path: str, top: Optional[str]) -> Optional[str]:
    """The index of what is not taken would name shards that are missing."""
    is_lost = path in rules.INDEXES.values() and path != rules.INDEXES.get(top or "")
    return "the index of weights that are not taken" if is_lost else None


def _unlisted(file: File, top: Optional[str], indexed: Optional[Collection[str]]) -> Optional[str]:
    """Source: vLLM 0.32.0, model_executor/model_loader/weight_utils.py filter_duplicate_safetensors_files."""
    if indexed is None or top is None or not weight_families.is_listed(file, top):
        return None
    return None if file.path in indexed else f"not in {rules.INDEXES[top]}"
