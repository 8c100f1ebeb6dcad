"""/metrics: the gauges a deploy tool reads."""

from __future__ import annotations

import os
from dataclasses import dataclass

from .gpu_state import start_ticks
from .launch import Launch


def process_start_seconds() -> float:
    """Seconds since the epoch, from the boot time of the kernel and the start of this process."""
    with open("/proc/stat", encoding="ascii") as file:
        boot = next(int(line.split()[1]) for line in file if line.startswith("btime "))
    return boot + (start_ticks(os.getpid()) or 0) / os.sysconf("SC_CLK_TCK")


def _cache_config(launch: Launch) -> dict[str, str]:
    return {
        "_block_size_resolved": "True",
        "block_size": str(launch.block_size),
        "cache_dtype": launch.checkpoint.kv_request or "auto"
        if launch.kv_cache_dtype == "auto"
        else launch.kv_cache_dtype,
        "enable_prefix_caching": str(launch.prefix_caching),
        "engine": "0",
        "gpu_memory_utilization": str(launch.gpu_memory_utilization),
        "kv_cache_dtype_skip_layers": "[]",
        "kv_cache_layout": "None",
        "kv_cache_max_concurrency": str(launch.kv_tokens / launch.max_model_len),
        "kv_cache_memory_bytes": "1073741824",
        "kv_cache_size_tokens": str(launch.kv_tokens),
        "num_cpu_blocks": "None",
        "num_gpu_blocks": str(max(launch.kv_tokens // launch.block_size, 1)),
        "num_gpu_blocks_override": "None",
        "prefix_caching_hash_algo": "sha256",
        "sliding_window": "None",
        "user_specified_block_size": "False",
    }


@dataclass(frozen=True)
class Load:
    served: int
    running: int
    waiting: int
    tokens: int


def render(launch: Launch, load: Load) -> str:
    labels = ",".join(f'{key}="{value}"' for key, value in sorted(_cache_config(launch).items()))
    name = launch.served_names[0]
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = [int(word) for word in file.read().split()[:2]]
    size = os.sysconf("SC_PAGE_SIZE")
    rows = [
        ("vllm:cache_config_info", "gauge", "Information of the LLMEngine CacheConfig", f"{{{labels}}} 1.0"),
        (
            "vllm:num_requests_running",
            "gauge",
            "Number of requests in model execution batches.",
            f'{{engine="0",model_name="{name}"}} {float(load.running)}',
        ),
        (
            "vllm:num_requests_waiting",
            "gauge",
            "Number of requests waiting to be processed.",
            f'{{engine="0",model_name="{name}"}} {float(load.waiting)}',
        ),
        (
            "vllm:generation_tokens_total",
            "counter",
            "Number of generation tokens processed.",
            f'{{engine="0",model_name="{name}"}} {float(load.tokens)}',
        ),
        (
            "vllm:request_success_total",
            "counter",
            "Count of successfully processed requests.",
            f'{{engine="0",finished_reason="length",model_name="{name}"}} {float(load.served)}',
        ),
        (
            "process_virtual_memory_bytes",
            "gauge",
            "Virtual memory size in bytes.",
            f" {float(pages[0] * size)}",
        ),
        (
            "process_resident_memory_bytes",
            "gauge",
            "Resident memory size in bytes.",
            f" {float(pages[1] * size)}",
        ),
        (
            "process_start_time_seconds",
            "gauge",
            "Start time of the process since unix epoch in seconds.",
            f" {process_start_seconds()!r}",
        ),
    ]
    return "".join(
        f"# HELP {metric} {text}\n# TYPE {metric} {kind}\n{metric}{value}\n"
        for metric, kind, text, value in rows
    )
