"""Ways to fail: which start fails where, with the text vLLM prints there."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time

from .gpu_state import Gpu, live_grants, used_mib
from .launch import Launch
from .log import template, write
from .metrics import Load

EXPLICIT_FP8 = ("fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc", "fp8_ds_mla")
CPU_FP8 = "FP8 KV cache on CPU requires x86 with AVX-512 or AMX."
# vLLM below 0.18 on a GPU where only TRITON_MLA fits.
MLA_FP8 = "TritonMLA V1 with FP8 KV cache not yet supported"


class WorkerFailed(Exception):
    """A worker's record before it goes: where its logger stands, the whole text, and the bare error for the engine."""

    def __init__(self, place: str, text: str, error: str) -> None:
        super().__init__(error)
        self.place = place
        self.text = text
        self.error = error


class EngineFailed(Exception):
    """Fails in the engine itself: the traceback's text."""


def _loading(error: str) -> WorkerFailed:
    return WorkerFailed(
        "multiproc_executor.py:953", template("worker-load", error=error), error.partition(": ")[2]
    )


def raise_at_device(launch: Launch, gpu: Gpu | None, rank: int) -> None:
    """Somebody else holds the GPU's memory. Source: request_memory, vllm/v1/worker/utils.py."""
    if gpu is None and launch.settings.fail != "gpu-memory-taken":
        return
    total = (gpu.memory_mib if gpu else 97887) / 1024
    held = used_mib(live_grants(launch.gpu_folder_state), gpu.uuid) / 1024 if gpu else 0.0
    if launch.settings.fail == "gpu-memory-taken":
        held = max(held, total * 0.93)
    wanted = total * launch.gpu_memory_utilization
    free = total - held - 0.5
    if free < wanted and held > 0:
        raise _loading(
            f"ValueError: Free memory on device cuda:{rank} ({free:.2f}/{total:.2f} GiB) on startup is less than desired GPU memory "
            f"utilization ({launch.gpu_memory_utilization}, {wanted:.2f} GiB). Decrease GPU memory utilization or reduce GPU memory "
            "used by other processes."
        )


def raise_while_loading(launch: Launch, gpu: Gpu | None, rank: int) -> None:
    fail = launch.settings.fail
    if fail == "oom":
        total = (gpu.memory_mib if gpu else 97887) / 1024
        raise _loading(
            f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB. GPU {rank} has a total capacity of {total:.2f} GiB "
            f"of which 412.06 MiB is free. Including non-PyTorch memory, this process has {total - 0.41:.2f} GiB memory in use. Of the "
            f"allocated memory {total - 1.2:.2f} GiB is allocated by PyTorch, and 97.45 MiB is reserved by PyTorch but unallocated. If "
            "reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid "
            "fragmentation.  See documentation for Memory Management  "
            "(https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
        )
    if fail == "hang":
        while True:
            time.sleep(3600)


def raise_at_attention(launch: Launch) -> None:
    """An FP8 KV cache where it cannot be had: by flag, or by the checkpoint while the flag is auto."""
    wanted = launch.kv_cache_dtype if launch.kv_cache_dtype != "auto" else launch.checkpoint.kv_request
    if launch.settings.fail != "fp8-kv" and (
        wanted not in EXPLICIT_FP8 or launch.settings.fp8_kv == "supported"
    ):
        return
    if launch.checkpoint.is_mla:
        raise _loading(f"NotImplementedError: {MLA_FP8}")
    raise WorkerFailed("multiproc_executor.py:1063", template("worker-kv-cache-cpu"), CPU_FP8)


def raise_at_kv_cache(launch: Launch) -> None:
    """Too little for one request. Source: _check_enough_kv_cache_memory, vllm/v1/core/kv_cache_utils.py."""
    limit = launch.settings.max_len
    if launch.settings.fail == "kv-too-small" and limit is None:
        limit = max(launch.max_model_len // 2, 16)
    if limit is None or launch.max_model_len <= limit:
        return
    needed = launch.max_model_len / limit * 3.86
    raise EngineFailed(
        template(
            "engine-kv-cache",
            error=f"ValueError: To serve at least one request with the model's max seq len ({launch.max_model_len}), ({needed:.2f} GiB KV "
            f"cache is needed, which is larger than the available KV cache memory (3.86 GiB). Based on the available memory, the "
            f"estimated maximum model length is {limit}. Try increasing `gpu_memory_utilization` (which also controls CPU memory on "
            "the CPU backend) or decreasing `max_model_len` when initializing the engine. See "
            "https://docs.vllm.ai/en/latest/configuration/conserving_memory/ for more details.",
        )
    )


def tell_hang() -> None:
    """A step that a worker does not end: what the engine prints after a minute comes at once. Source: shm_broadcast.py."""
    write(
        1,
        f"(EngineCore pid={os.getpid()}) INFO {time.strftime('%m-%d %H:%M:%S')} [shm_broadcast.py:751] "
        "No available shared memory broadcast block found in 60 seconds. This typically happens when some processes are hanging or "
        "doing some time-consuming work (e.g. compilation, weight/kv cache quantization).\n",
    )


def busy(load: Load) -> Load:
    """A server with more to do than it can: it goes on making tokens, for others."""
    return Load(load.served, load.running + 8, load.waiting + 24, load.tokens + int(time.monotonic() * 10))


def kill_in(seconds: float, pid: int) -> None:
    """SIGKILL as from the kernel's OOM killer, after that time."""

    def kill() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    timer = threading.Timer(max(seconds, 0.0), kill)
    timer.daemon = True
    timer.start()
