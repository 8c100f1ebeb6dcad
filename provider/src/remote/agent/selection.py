"""Which files of a repository are downloaded. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Optional

from agent import weight_families
from agent import weight_rules as rules
from agent.failure import AgentFailure
from agent.hub_cache import File
from agent.selection_default import reasons_against
from agent.weight_families import matches, shard_set


@dataclass(frozen=True)
class Skipped:
    file: File
    reason: str


@dataclass(frozen=True)
class Selection:
    """In the order of the repository. `skipped` says of each other file why it is not taken."""

    files: list[File]
    skipped: list[Skipped]


def select(
    files: Sequence[File],
    load_format: Optional[str],
    include: Optional[Sequence[str]],
    exclude: Optional[Sequence[str]],
    indexed: Optional[Collection[str]] = None,
) -> Selection:
    """The files to download. `include` takes the place of the default choice, `exclude` comes on top of either.

    Patterns are those of `hf download`: fnmatchcase over the whole path. `indexed`: names in the weight_map of the index
    that `index_in_doubt` names.
    """
    if include is None:
        reasons = reasons_against(files, load_format, indexed)
    else:
        reasons = {file.path: "not in model.include" for file in files if not matches(file.path, include)}
    reasons.update({file.path: "in model.exclude" for file in files if matches(file.path, exclude or ())})
    taken = [file for file in files if file.path not in reasons]
    return Selection(taken, [Skipped(file, reasons[file.path]) for file in files if file.path in reasons])


def index_in_doubt(files: Sequence[File], load_format: Optional[str]) -> Optional[str]:
    """The index that has to be read to know which shards count; None where the names of the files say it."""
    family = weight_families.of_top(files, load_format)
    index = rules.INDEXES.get(family or "")
    if family not in ("safetensors", "consolidated") or index not in {file.path for file in files}:
        return None
    names = [file.path for file in files if weight_families.is_listed(file, family)]
    is_one_set = len({shard_set(name) for name in names}) == 1 and shard_set(names[0])[1] == len(names)
    return None if is_one_set else index


def demand_weights(
    repo: str, selection: Selection, load_format: Optional[str], include: Optional[Sequence[str]]
) -> None:
    """Raises INPUT_INVALID where a server could not start from the selected files."""
    if not selection.files:
        told = (
            "model.include and model.exclude leave none" if include is not None else "the repository has none"
        )
        raise AgentFailure(
            "INPUT_INVALID",
            f"Cannot download {repo}: no file is selected ({told}), need some",
            change="patterns match the whole path, as in `hf download --include`: *.safetensors, *.json",
        )
    known = rules.FORMATS.get((load_format or "auto").lower())
    found = {weight_families.of(file) for file in selection.files}
    if include is None and known is not None and known.needs_weights and not found & {*known.families}:
        raise AgentFailure(
            "INPUT_INVALID",
            f"Cannot serve {repo} with load format {load_format or 'auto'}: it has no weights of that kind, "
            f"need {' or '.join(known.families)}",
            evidence=_left_out(selection),
            change="set model.include to the files that are to be loaded and engine.loadFormat to what reads them, "
            "or take a repository with safetensors",
        )
    sets = {shard_set(file.path) for file in selection.files if file.path.endswith(".gguf")}
    models = sorted(name for name, _ in sets if "mmproj" not in name.lower())
    if include is None and len(models) > 1:
        raise AgentFailure(
            "INPUT_INVALID",
            f"Cannot choose among {len(models)} GGUF models of {repo}: each is a whole one, need one",
            evidence=", ".join(models[:8]),
            change=f'set model.include to one of them, its config and tokenizer: ["{models[0]}*", "*.json"]',
        )


def _left_out(selection: Selection) -> Optional[str]:
    """The largest file that was not taken, and why."""
    if not selection.skipped:
        return None
    largest = max(selection.skipped, key=lambda skipped: skipped.file.size)
    return f"{largest.file.path} ({largest.file.size} bytes): {largest.reason}"
