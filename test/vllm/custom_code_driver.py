"""Asks the real transformers and vLLM what they find in an overlay of a checkpoint that lies in the hub's cache and has code of its own.

Run by the Python of that vLLM, at the top of the checkout, with an empty folder; prints one JSON object.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True

TOP = Path(sys.argv[1]).resolve()
os.environ.update(HOME=str(TOP), HF_HOME=str(TOP / "hf"))

from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: E402
from transformers import AutoConfig, AutoTokenizer  # noqa: E402
from transformers.dynamic_module_utils import get_class_from_dynamic_module  # noqa: E402
from vllm.lora.peft_helper import PEFTHelper  # noqa: E402
from vllm.transformers_utils.config import get_config  # noqa: E402

from agent import overlay, paths  # noqa: E402

CONFIGURATION = """
from transformers import PretrainedConfig
from .parts_tiny import WIDTH

class TinyConfig(PretrainedConfig):
    model_type = "tiny_of_its_own"
    def __init__(self, length=0, width=WIDTH, **others):
        super().__init__(**others)
        self.length, self.width = length, width
"""
CONFIG = {
    "model_type": "tiny_of_its_own",
    "length": 256,
    "auto_map": {"AutoConfig": "configuration_tiny.TinyConfig"},
}
FILES = {
    "config.json": json.dumps(CONFIG),
    "configuration_tiny.py": CONFIGURATION,
    "parts_tiny.py": "from .deeper_tiny import WIDTH\n",
    "deeper_tiny.py": "WIDTH = 4711\n",
    "modeling_tiny.py": "from .configuration_tiny import TinyConfig\n\nclass TinyModel:\n    config_class = TinyConfig\n",
    "tokenizer_config.json": json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "?"}),
    "chat_template.jinja": "say: {{ messages[0]['content'] }}",
    "adapters/sql/adapter_config.json": json.dumps({"r": 8, "lora_alpha": 16, "target_modules": ["q_proj"]}),
}


def tokenizer():
    made = Tokenizer(models.WordLevel({"?": 0, "one": 1, "two": 2}, unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return made.to_str()


def lay_out(repository):
    """As the hub's client does: blobs, and relative links to them."""
    snapshot = repository / "snapshots" / ("a" * 40)
    (repository / "blobs").mkdir(parents=True)
    for path, text in {**FILES, "tokenizer.json": tokenizer()}.items():
        blob = repository / "blobs" / hashlib.sha256(text.encode()).hexdigest()
        blob.write_text(text)
        place = snapshot / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(os.path.relpath(blob, place.parent))
    return snapshot


step = {
    "name": "0a1b2c",
    "checkpointPath": str(lay_out(TOP / "hub" / "models--org--tiny")),
    "files": {"config.json": json.dumps({**CONFIG, "length": 128})},
    "record": {},
}
paths.server_folder("chat-00000001").mkdir(parents=True)
folder = overlay.build("chat-00000001", step)["path"]
before = sorted(os.listdir(folder))

config = AutoConfig.from_pretrained(folder, trust_remote_code=True)
by_vllm = get_config(folder, trust_remote_code=True)
model = get_class_from_dynamic_module("modeling_tiny.TinyModel", folder)
words = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
chat = words.apply_chat_template([{"role": "user", "content": "one two"}], tokenize=False)
adapter = PEFTHelper.from_local_dir(os.path.join(folder, "adapters", "sql"), max_position_embeddings=None)
print(
    json.dumps(
        {
            "config": [type(config).__name__, config.length, config.width],
            "byVllm": [type(by_vllm).__name__, by_vllm.length, by_vllm.width],
            "modelConfig": model.config_class.__name__,
            "tokens": words("one two")["input_ids"],
            "chat": chat,
            "adapterRank": adapter.r,
            "isUntouched": before == sorted(os.listdir(folder)),
        }
    )
)
