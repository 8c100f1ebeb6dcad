"""selection.py: what vLLM loads is downloaded, and not the copies of it that stand beside."""

import unittest

from agent import selection, weight_rules
from agent.failure import AgentFailure
from agent.hub_cache import File

GIB = 1 << 30
# Of every model that vLLM serves, whatever its weights are in.
KEPT = [
    ".gitattributes",
    "LICENSE",
    "README.md",
    "added_tokens.json",
    "chat_template.jinja",
    "config.json",
    "configuration_deepseek.py",
    "generation_config.json",
    "hf_quant_config.json",
    "preprocessor_config.json",
    "tekken.json",
    "tiktoken.model",
    "tokenizer.json",
    "tokenizer.model",
    "vocab.txt",
]
SHARDS = [
    "model-00001-of-00002.safetensors",
    "model-00002-of-00002.safetensors",
    "model.safetensors.index.json",
]
BIN = [
    "pytorch_model-00001-of-00002.bin",
    "pytorch_model-00002-of-00002.bin",
    "pytorch_model.bin.index.json",
]
MISTRAL = ["consolidated.safetensors", "params.json"]

# (title, load format, what is taken, what is not); KEPT stands in each of them.
CASES = [
    ("shards", None, SHARDS, []),
    ("pickled copies", None, SHARDS, BIN),
    ("only pickled ones", None, BIN, []),
    ("the vendor's layout", "auto", SHARDS, ["original/consolidated.00.pth", "original/params.json"]),
    (
        "a vendor's safetensors",
        None,
        SHARDS,
        ["original/model--00001-of-00007.safetensors", "metal/model.bin"],
    ),
    ("Mistral's copy", None, [*SHARDS, "params.json"], ["consolidated.safetensors"]),
    (
        "Mistral's copy in shards",
        "auto",
        SHARDS,
        ["consolidated-00001-of-00002.safetensors", "consolidated.safetensors.index.json"],
    ),
    ("Mistral's copy, wanted", "mistral", MISTRAL, SHARDS),
    ("Mistral's copy, by its config", "auto:mistral", MISTRAL, SHARDS),
    ("Mistral's config beside plain weights", "auto:mistral", [*SHARDS, "params.json"], []),
    ("Mistral's alone", None, MISTRAL, []),
    ("Mistral's alone as safetensors", "safetensors", MISTRAL, []),
    ("Mistral's in a folder", None, SHARDS, ["extra/consolidated.safetensors"]),
    ("in capitals", "Mistral", MISTRAL, SHARDS),
    ("safetensors, wanted", "safetensors", ["model.safetensors"], BIN),
    ("pt, wanted", "pt", ["model.pt"], ["model.safetensors"]),
    ("npcache", "npcache", BIN, SHARDS),
    ("nothing is loaded", "dummy", [], [*SHARDS, *BIN]),
    ("tensorizer", "tensorizer", ["model.tensors"], SHARDS),
    ("a plugin's format", "mine", [*SHARDS, *BIN, "model.pt"], ["model.onnx"]),
    ("GGUF beside", None, SHARDS, ["model-Q4_K_M.gguf", "Q8_0/model-00001-of-00002.gguf"]),
    ("GGUF, wanted", "gguf", ["model-Q4_K_M.gguf"], SHARDS),
    (
        "other frameworks",
        None,
        ["model.safetensors"],
        [
            *("tf_model.h5", "flax_model.msgpack", "rust_model.ot", "pytorch_model.bin"),
            *("onnx/model.onnx", "onnx/model.onnx_data", "openvino/openvino_model.bin", "model.onnx"),
            *("consolidated.00.pth", "coreml/text/model.mlmodel", "model.ckpt"),
        ],
    ),
    (
        "the training",
        None,
        ["model.safetensors"],
        ["training_args.bin", "optimizer.pt", "scheduler.pt", "checkpoint-500/model.safetensors"],
    ),
    ("pictures", None, ["model.safetensors"], ["figures/benchmark.png", "assets/demo.mp4"]),
    ("side files", None, [*BIN, "sparse_linear.pt", "colbert_linear.pt"], []),
    ("a draft model's embedding", None, ["model.safetensors", "mask_embedding.pt"], []),
    (
        "layers of sentence-transformers",
        None,
        ["model.safetensors", "1_Pooling/config.json", "2_Dense/config.json", "2_Dense/model.safetensors"],
        ["2_Dense/pytorch_model.bin"],
    ),
    ("a pickled layer", None, ["model.safetensors", "2_Dense/pytorch_model.bin"], []),
    (
        "adapters",
        None,
        [*SHARDS, "speech-lora/adapter_model.safetensors", "speech-lora/adapter_config.json"],
        ["speech-lora/adapter_model.bin"],
    ),
    ("an adapter is no copy", None, [*SHARDS, "adapter_model.bin"], BIN),
    ("an encoder in a folder", "safetensors", [*SHARDS, "whisper-large-v3/model.safetensors"], []),
]


def files(*paths, size=1):
    return [File(path, size, "0" * 64) for path in sorted(paths)]


def names(found):
    return [file.path for file in found]


class SelectionTest(unittest.TestCase):
    maxDiff = None

    def test_each_kind_of_repository(self):
        for title, load_format, taken, left in CASES:
            is_mistral_alone = title.startswith("Mistral's alone")
            kept = [name for name in KEPT if not (is_mistral_alone and name == "config.json")]
            everything = files(*kept, *taken, *left)
            with self.subTest(title):
                found = selection.select(everything, load_format, None, None)
                self.assertEqual(names(found.files), sorted([*kept, *taken]))
                self.assertEqual([skipped.file.path for skipped in found.skipped], sorted(left))
                selection.demand_weights("org/m", found, load_format, None)

    def test_mistral_beside_a_config_is_taken_where_there_is_nothing_else(self):
        found = selection.select(files("config.json", *MISTRAL), None, None, None)
        self.assertEqual(names(found.files), ["config.json", *MISTRAL])

    def test_each_file_that_is_left_out_says_why(self):
        repository = files("config.json", *SHARDS, "pytorch_model.bin", "original/a.pth", "model.gguf")
        found = selection.select(repository, None, None, ["*00002*"])
        self.assertEqual(
            {skipped.file.path: skipped.reason for skipped in found.skipped},
            {
                "model-00001-of-00002.safetensors": "in model.exclude",
                "model-00002-of-00002.safetensors": "in model.exclude",
                "model.gguf": "weights for llama.cpp",
                "original/a.pth": "the vendor's own layout of the same weights",
                "pytorch_model.bin": "a copy: the safetensors weights are taken",
            },
        )

    def test_a_big_file_of_any_name_is_weights(self):
        big = File("extra.pt", 3 * GIB, "0" * 64)
        found = selection.select([*files("config.json", *SHARDS, "voices.pt"), big], None, None, None)
        self.assertEqual(names(found.files), ["config.json", *SHARDS, "voices.pt"])

    def test_include_takes_the_place_of_the_default_and_exclude_comes_on_top(self):
        repository = files("config.json", *BIN, *SHARDS, "sub/a.json", "[x].json")
        chosen = {
            (("*.bin", "*.json"), ("sub/*",)): [
                "[x].json",
                "config.json",
                *BIN,
                "model.safetensors.index.json",
            ],
            (("sub/",), None): ["sub/a.json"],
            (("[[]x].json",), None): ["[x].json"],
            (("*.JSON",), None): [],
            (None, ("*.safetensors",)): [
                "[x].json",
                "config.json",
                "model.safetensors.index.json",
                "sub/a.json",
            ],
        }
        for (include, exclude), expected in chosen.items():
            with self.subTest(include=include, exclude=exclude):
                found = selection.select(repository, None, include, exclude)
                self.assertEqual(names(found.files), sorted(expected))

    def test_the_index_decides_where_names_do_not(self):
        plain = files("config.json", *SHARDS)
        self.assertIsNone(selection.index_in_doubt(plain, None))
        self.assertIsNone(selection.index_in_doubt(files("config.json", "model.safetensors"), None))
        doubtful = files("config.json", *SHARDS, "model.safetensors", "joint_head.safetensors")
        self.assertEqual(selection.index_in_doubt(doubtful, None), "model.safetensors.index.json")
        found = selection.select(doubtful, None, None, None, indexed=set(SHARDS[:2]))
        self.assertEqual(names(found.files), ["config.json", "joint_head.safetensors", *SHARDS])
        self.assertEqual(found.skipped[0].reason, "not in model.safetensors.index.json")
        short = files("config.json", SHARDS[0], SHARDS[2])
        self.assertEqual(selection.index_in_doubt(short, None), "model.safetensors.index.json")

    def refusal(self, repository, load_format, include=None):
        found = selection.select(repository, load_format, include, None)
        with self.assertRaises(AgentFailure) as caught:
            selection.demand_weights("org/m", found, load_format, include)
        self.assertEqual(caught.exception.code, "INPUT_INVALID")
        return caught.exception

    def test_a_repository_without_loadable_weights_is_told_before_the_download(self):
        told = self.refusal(files("config.json", "model-Q4_K_M.gguf"), None)
        self.assertEqual(
            told.summary,
            "Cannot serve org/m with load format auto: it has no weights of that kind, "
            "need safetensors or bin or pt or consolidated",
        )
        self.assertEqual(told.evidence, "model-Q4_K_M.gguf (1 bytes): weights for llama.cpp")
        self.assertIn("has no weights", self.refusal(files("config.json", *SHARDS), "mistral").summary)
        told = self.refusal(files("config.json"), None, ["*.bin"])
        self.assertIn("model.include and model.exclude leave none", told.summary)

    def test_of_several_gguf_models_one_has_to_be_named(self):
        quantized = files(
            "a-Q4.gguf", "Q8/a-00001-of-00002.gguf", "Q8/a-00002-of-00002.gguf", "mmproj-f16.gguf"
        )
        told = self.refusal(quantized, "gguf")
        self.assertIn("Cannot choose among 2 GGUF models", told.summary)
        self.assertEqual(told.evidence, "Q8/a, a-Q4")
        found = selection.select(quantized, "gguf", ["Q8/*"], None)
        selection.demand_weights("org/m", found, "gguf", ["Q8/*"])
        self.assertEqual(names(found.files), ["Q8/a-00001-of-00002.gguf", "Q8/a-00002-of-00002.gguf"])

    def test_every_row_has_its_source(self):
        rows = [*weight_rules.FORMATS.values(), *weight_rules.FOREIGN]
        self.assertTrue(all(row.source for row in rows))
