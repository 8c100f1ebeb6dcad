"""Which files of a repository vLLM loads: data, each row with where it is from. Checked with vLLM 0.32.0.

Paths of its files are below vllm/; patterns are of fnmatchcase, whose * crosses "/".
"""

from __future__ import annotations

from typing import NamedTuple

# Families of weight files, by the end of the name; "consolidated" is Mistral's own layout of safetensors.
CONSOLIDATED = "consolidated*.safetensors"
SUFFIXES = {"safetensors": ".safetensors", "bin": ".bin", "pt": ".pt", "gguf": ".gguf", "tensors": ".tensors"}

EVERY_FAMILY = ("safetensors", "bin", "pt", "consolidated", "tensors")

# The list of what is in which shard, by family. Source: model_executor/model_loader/default_loader.py, _prepare_weights.
INDEXES = {
    "safetensors": "model.safetensors.index.json",
    "consolidated": "consolidated.safetensors.index.json",
    "bin": "pytorch_model.bin.index.json",
}


class Format(NamedTuple):
    """`families` of the top folder, the first one that is there counts. `needs_weights`: they come from nowhere else."""

    families: tuple[str, ...]
    needs_weights: bool
    source: str


_DEFAULT = "model_executor/model_loader/default_loader.py, _prepare_weights"
_STREAMED = "model_executor/model_loader/runai_streamer_loader.py, _prepare_weights"
_SHARDED = "model_executor/model_loader/sharded_state_loader.py, _prepare_weights"
# vLLM's auto takes Mistral's layout first when it sees one, and the plain one when it does not: with the copy left out
# weights, config and tokenizer all go by the Transformers files. Source: default_loader.py; transformers_utils/config.py, get_config.
_AUTO = Format(("safetensors", "bin", "pt", "consolidated"), True, _DEFAULT)
_SAFETENSORS = Format(("safetensors", "consolidated"), True, _DEFAULT)

# By loadFormat. Source of the names: model_executor/model_loader/__init__.py, LoadFormats.
FORMATS = {
    "auto": _AUTO,
    # Of ours, no name of vLLM's: auto with the config of Mistral's layout, whose weights vLLM takes first then.
    "auto:mistral": _AUTO._replace(families=("consolidated", "safetensors", "bin", "pt")),
    "hf": _AUTO,
    "safetensors": _SAFETENSORS,
    "fastsafetensors": _SAFETENSORS,
    "instanttensor": _SAFETENSORS,
    "mistral": Format(("consolidated",), True, _DEFAULT),
    "pt": Format(("pt",), True, _DEFAULT),
    "npcache": Format(("bin", "pt"), True, _DEFAULT),
    "runai_streamer": _SAFETENSORS._replace(source=_STREAMED),
    "runai_streamer_sharded": _SAFETENSORS._replace(source=_SHARDED),
    "sharded_state": _SAFETENSORS._replace(source=_SHARDED),
    "ipc_cache": Format(("safetensors", "consolidated"), False, "model_loader/weight_cache/protocol.py"),
    "modelexpress": Format(("safetensors", "consolidated"), False, "model_loader/modelexpress_loader.py"),
    "tensorizer": Format(
        ("tensors",), False, "model_loader/tensorizer_loader.py: mostly from an object store"
    ),
    "dummy": Format((), False, "model_loader/dummy_loader.py, download_model does nothing"),
    # 0.32.0 has no loader for it; plugins register one. Source: config/load.py, "Other custom values".
    "gguf": Format(("gguf",), True, "model_loader/__init__.py, register_model_loader"),
}

# Below the top folder files are read by the code of a model, safetensors first.
# Source: model_executor/models/adapters.py, _load_dense_weights; mimo_audio.py, _load_audio_tokenizer.
BELOW = ("safetensors", "bin", "pt")

# Names of .bin and .pt files that hold a model's weights, of any size; what has another name and is small is read by
# somebody by that name: sparse_linear.pt, colbert_linear.pt (models/roberta.py), mask_embedding.pt (models/qwen3_dflash.py).
WEIGHT_NAMES = ("pytorch_model*", "model*", "consolidated*", "adapter_model*", "ggml*", "*-of-[0-9]*")
LARGEST_SIDE_FILE_BYTES = 64 << 20

# Loaded beside the shards of an index, by name. Source: model_executor/models/clef_omni.py, JOINT_HEAD_WEIGHTS.
BESIDE_THE_INDEX = ("joint_head.safetensors",)

# Adapters stand beside a model and are no copy of it. Source: lora/lora_model.py, from_local_checkpoint.
ADAPTERS = "adapter_model*"


class Foreign(NamedTuple):
    patterns: tuple[str, ...]
    reason: str
    source: str


_NO_LOADER = "no loader of model_executor/model_loader/__init__.py reads it"
FOREIGN = (
    Foreign(
        ("original/*",), "the vendor's own layout of the same weights", "config/load.py, ignore_patterns"
    ),
    Foreign(("metal/*", "coreml/*", "*.mlmodel", "*.mlpackage/*"), "weights for Apple devices", _NO_LOADER),
    Foreign(("onnx/*", "*.onnx", "*.onnx_data*", "*.onnx.data"), "weights for ONNX", _NO_LOADER),
    Foreign(("openvino/*", "openvino_*"), "weights for OpenVINO", _NO_LOADER),
    Foreign(("*.gguf", "*.llamafile"), "weights for llama.cpp", _NO_LOADER),
    Foreign(("*.pth", "*.ckpt"), "weights in a form that vLLM does not load", _NO_LOADER),
    Foreign(("*.h5", "*.msgpack", "*.ot", "*.tflite", "*.nemo"), "weights for another framework", _NO_LOADER),
    Foreign(
        ("*training_args.bin", "*optimizer.bin", "*optimizer.pt", "*scheduler.pt", "*scaler.pt"),
        "state of the training",
        "model_executor/model_loader/weight_utils.py, filter_files_not_needed_for_inference",
    ),
    Foreign(
        ("checkpoint-[0-9]*/*", "last-checkpoint/*", "global_step[0-9]*/*", "*events.out.tfevents*"),
        "an earlier state of the training",
        "default_loader.py, _prepare_weights: weights of the top folder only",
    ),
    Foreign(
        ("*.png", "*.jpg", "*.jpeg", "*.gif", "*.webp", "*.mp4", "*.parquet", "*.arrow", "*.ipynb"),
        "pictures and data for people",
        "transformers_utils/repo_utils.py, _WEIGHT_FILE_PATTERNS",
    ),
)
