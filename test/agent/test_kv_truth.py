"""kv_truth.py: what the lines of each version tell of the type that a KV cache has."""

from __future__ import annotations

import unittest
from typing import Optional

from agent import kv_truth

OLD_ENGINE = (
    "INFO 02-10 10:00:00 [core.py:97] Initializing a V1 LLM engine (v0.16.0rc2) with config: model='m', speculative_config="
    "SpeculativeConfig(method='mtp', num_spec_tokens=1), dtype=torch.float16, max_seq_len=64, quantization_config={'a': 1}, "
    "enforce_eager=False, kv_cache_dtype=fp8_e4m3, device_config=cuda, structured_outputs_config=None"
)
JSON_ENGINE = (
    '{"levelname": "INFO", "message": "Initializing a V1 LLM engine (v0.32.0) with config: model=\'m\', dtype=torch.bfloat16, '
    'max_seq_len=64, kv_cache_dtype=auto, device_config=cuda"}'
)
DRAFT = "INFO [cache.py:362] Using fp8 data type to store kv cache. It reduces the GPU memory footprint"


def told(*lines: str, metrics: Optional[str] = None) -> list[kv_truth.Seen]:
    truth = kv_truth.KvTruth()
    for line in lines:
        truth.hear(line)
    return truth.places({} if metrics is None else {"cache_dtype": metrics})


class KvTruthTest(unittest.TestCase):
    def test_of_each_line_the_type(self) -> None:
        for line, dtype in (
            (OLD_ENGINE, "fp8_e4m3"),
            (JSON_ENGINE, "bfloat16"),
            ("INFO Using DeepSeek's fp8_ds_mla KV cache format. To use standard fp8, set it", "fp8_ds_mla"),
            ("INFO Using standard fp8 KV cache format. To use DeepSeek's fp8_ds_mla KV cache format", "fp8"),
            ("INFO Using nvfp4_ds_mla KV cache format for FLASHMLA_SPARSE backend.", "nvfp4_ds_mla"),
        ):
            with self.subTest(line):
                self.assertEqual(dtype, kv_truth.dtype_of(told(line)))

    def test_lines_that_tell_of_another_cache_or_of_nothing_are_not_heard(self) -> None:
        for line in (DRAFT, "INFO Using LBHNC KV cache layout.", "CPU KV cache size: 2,097,152 tokens"):
            with self.subTest(line):
                self.assertEqual([], told(line))
        self.assertIsNone(kv_truth.dtype_of([]))

    def test_the_layer_counts_more_than_the_engine_and_that_more_than_metrics(self) -> None:
        places = told(
            JSON_ENGINE, "Using fp8_ds_mla KV cache format for FLASHMLA_SPARSE backend.", metrics="auto"
        )
        self.assertEqual(
            ["fp8_ds_mla", "bfloat16", "bfloat16"], [seen.dtype for seen in places], "auto is the model's"
        )
        self.assertEqual("fp8_ds_mla", kv_truth.dtype_of(places))

    def test_where_layers_take_another_type_for_auto_it_is_that(self) -> None:
        truth = kv_truth.KvTruth("fp8")
        truth.hear(JSON_ENGINE)
        places = truth.places({"cache_dtype": "auto"})
        self.assertEqual(["fp8", "fp8"], [seen.dtype for seen in places])
        self.assertEqual("kv_cache_dtype=auto", places[0].evidence)
        self.assertEqual("fp8", kv_truth.dtype_of(places))

    def test_auto_of_metrics_alone_says_nothing_against_a_wish(self) -> None:
        places = told(metrics="auto")
        self.assertEqual("auto", kv_truth.dtype_of(places))
        self.assertIsNone(kv_truth.lost(places, ["bfloat16"]))

    def test_without_a_wish_nothing_can_be_lost(self) -> None:
        self.assertIsNone(kv_truth.lost(told(OLD_ENGINE, metrics="fp8"), None))

    def test_one_engine_of_several_that_differs_is_enough(self) -> None:
        lost = kv_truth.lost(told(JSON_ENGINE, OLD_ENGINE, metrics="auto"), ["bfloat16"])
        self.assertEqual("fp8_e4m3", lost and lost.dtype)


if __name__ == "__main__":
    unittest.main()
