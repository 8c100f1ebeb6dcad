"""Asks the loader of the real vLLM which weights it would read from what selection.py takes, and from everything.

Run by the Python of that vLLM, at the top of the checkout; prints a JSON list of {title, loadFormat, ours, all, taken}.
`ours`, `all`: names that vLLM would read, or the error it raises; `taken`: weights of the top folder that are downloaded.
"""

import json
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from vllm.config.load import LoadConfig  # noqa: E402
from vllm.model_executor.model_loader import DefaultModelLoader  # noqa: E402

from agent import selection, weight_families, weight_rules  # noqa: E402
from test.agent.test_selection import CASES, KEPT, files  # noqa: E402


def lay_out(folder, paths):
    for path in paths:
        place = Path(folder) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = place.name.replace(".index.json", "").rpartition(".")[0]
        shards = [
            name
            for name in paths
            if name.startswith(beside + "-") and name.endswith((".safetensors", ".bin"))
        ]
        place.write_text(json.dumps({"weight_map": {name: name for name in shards}}))


def read_by_vllm(paths, load_format):
    with tempfile.TemporaryDirectory() as folder:
        lay_out(folder, paths)
        # "auto:mistral" is auto to vLLM.
        loader = DefaultModelLoader(LoadConfig(load_format=(load_format or "auto").partition(":")[0]))
        try:
            found = loader._prepare_weights(folder, None, None, True, None)[1]
        except (RuntimeError, FileNotFoundError) as error:
            return f"{type(error).__name__}: {error}".replace(folder, "DIR")
        return sorted(str(Path(path).relative_to(folder)) for path in found)


def judge(title, load_format, taken, left):
    repository = files(*KEPT, *taken, *left)
    found = selection.select(repository, load_format, None, None).files
    weights = [
        file
        for file in found
        if weight_families.of(file) and "/" not in file.path and not weight_families.is_adapter(file.path)
    ]
    return {
        "title": title,
        "loadFormat": load_format,
        "ours": read_by_vllm([file.path for file in found], load_format),
        "all": read_by_vllm([file.path for file in repository], load_format),
        "taken": [file.path for file in weights],
    }


def is_for_default_loader(load_format):
    known = weight_rules.FORMATS.get((load_format or "auto").lower())
    return known is not None and known.needs_weights and load_format != "gguf"


print(json.dumps([judge(*case) for case in CASES if is_for_default_loader(case[1])]))
