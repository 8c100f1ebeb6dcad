"""One start, fully decided: what the API server hands to its engine and workers."""

from __future__ import annotations

import time
from dataclasses import dataclass

from . import settings
from .checkpoint import Checkpoint
from .gpu_state import Gpu
from .settings import Settings

# Where in the whole start (0 to 1) each process is how far. The real one spends most on imports; here loading gets its share,
# so that progress can be seen.
IMPORTED = 0.15
ENGINE_IMPORTED = 0.30
WORKER_IMPORTED = 0.45
WEIGHTS_FIRST, WEIGHTS_LAST = 0.48, 0.70
COMPILED = 0.78
CAPTURE_FIRST, CAPTURE_LAST = 0.82, 0.92
ENGINE_READY = 0.95
ROUTES = 0.98


@dataclass(frozen=True)
class Launch:
    began: float
    version: str
    settings: Settings
    checkpoint: Checkpoint
    tokenizer_skipped: bool
    served_names: tuple[str, ...]
    max_model_len: int
    tensor_parallel: int
    pipeline_parallel: int
    kv_cache_dtype: str
    load_format: str
    enforce_eager: bool
    prefix_caching: bool
    quantization: str | None
    gpu_memory_utilization: float
    max_num_seqs: int
    block_size: int
    gpus: tuple[Gpu, ...]
    gpu_folder_state: str
    shutdown_timeout: int
    progress_bars: bool

    @property
    def world_size(self) -> int:
        return self.tensor_parallel * self.pipeline_parallel

    @property
    def on_gpu(self) -> bool:
        return self.settings.platform == "cuda"

    @property
    def kv_tokens(self) -> int:
        return self.settings.max_len or 2_097_152

    @staticmethod
    def share_end(began: float, share: float) -> float:
        """When, on time.monotonic()'s clock, that share of the start has passed."""
        return began + share * settings.read_start_seconds()

    def wait_until(self, share: float) -> None:
        """Sleeps until that share of the start has passed. CLOCK_MONOTONIC is one clock for all processes."""
        left = self.began + share * self.settings.start_seconds - time.monotonic()
        if left > 0:
            time.sleep(left)


def worker_name(launch: Launch, rank: int) -> str:
    """Worker, Worker_TP1, Worker_PP0_TP1: as vLLM titles them."""
    parts: list[str] = ["Worker"]
    if launch.pipeline_parallel > 1:
        parts.append(f"PP{rank // launch.tensor_parallel}")
    if launch.tensor_parallel > 1:
        parts.append(f"TP{rank % launch.tensor_parallel}")
    return "_".join(parts)
