"""VLLM::Worker: loads the model, holds the GPU's memory, and ends when the engine's end of its pipe closes."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory

from . import failures, gpu_state
from . import launch as stage
from .launch import Launch, worker_name
from .log import Log, plain, template, write
from .title import prefix, set_title


def run(
    launch: Launch, rank: int, status: Connection, death: Connection, shared_names: list[str], rendezvous: str
) -> None:
    """Body of the process. `status` says ready or failed; `death` closes with the engine."""
    name = worker_name(launch, rank)
    set_title(f"{prefix()}::{name}")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log = Log(name)
    launch.wait_until(stage.WORKER_IMPORTED)
    shared = [SharedMemory(name=shared_name) for shared_name in shared_names]
    try:
        _load(launch, rank, log, rendezvous)
    except failures.WorkerFailed as failure:
        log.error(failure.place, failure.text)
        _send(status, ("failed", failure.error))
        _leave(shared)
    # From here on TERM is the engine's business: the worker goes when the engine lets go of it.
    signal.signal(signal.SIGTERM, lambda *_: None)
    if not _send(status, ("ready", None)):
        plain("BrokenPipeError: [Errno 32] Broken pipe")
        _leave(shared)
    try:
        death.recv()
        _initialize_kv_cache(launch, rank, log, status)
        # Nothing else is ever sent: this ends when the engine's end closes.
        death.recv()
    except EOFError:
        log.info("multiproc_executor.py:843", "Parent process exited, terminating worker queues")
    # The last worker that goes in order takes the rendezvous file with it; one that failed to load does not.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(rendezvous.partition("://")[2])
    _leave(shared)


def _initialize_kv_cache(launch: Launch, rank: int, log: Log, status: Connection) -> None:
    try:
        if not launch.on_gpu:
            failures.raise_at_attention(launch)
        _capture(launch, rank)
    except failures.WorkerFailed as failure:
        log.error(failure.place, failure.text)
        _send(status, ("failed", failure.error))
        raise EOFError from failure
    _send(status, ("warm", None))


def _send(status: Connection, message: object) -> bool:
    try:
        status.send(message)
        return True
    except OSError:
        return False


def _leave(shared: list[SharedMemory]) -> None:
    for segment in shared:
        segment.close()
    sys.stdout.flush()
    os._exit(0)


def _load(launch: Launch, rank: int, log: Log, rendezvous: str) -> None:
    model, on_gpu = launch.checkpoint.path, launch.on_gpu
    backend = "nccl" if on_gpu else "gloo"
    log.info(
        "parallel_state.py:1906",
        f"world_size={launch.world_size} rank={rank} local_rank={rank} distributed_init_method={rendezvous} backend={backend}",
    )
    gpu = launch.gpus[rank] if rank < len(launch.gpus) else None
    failures.raise_at_device(launch, gpu, rank)
    if on_gpu and launch.world_size > 1 and rank == 0:
        log.info("pynccl.py:148", "vLLM is using nccl==2.28.9")
    tensor_rank, pipeline_rank = rank % launch.tensor_parallel, rank // launch.tensor_parallel
    log.info(
        "parallel_state.py:2350",
        f"rank {rank} in world size {launch.world_size} is assigned as DP rank 0, PP rank {pipeline_rank}, PCP rank 0, "
        f"TP rank {tensor_rank}, ETP rank 0, EP rank N/A, EPLB rank N/A",
    )
    if on_gpu:
        log.info("gpu_worker.py:518", "Using V2 Model Runner")
        log.info("gpu/model_runner.py:392", "Loading model from scratch...")
        failures.raise_at_attention(launch)
        attention = "TRITON_MLA" if launch.checkpoint.is_mla else "FLASH_ATTN"
        log.info(
            "cuda.py:507", f"Using {attention} attention backend out of potential backends: ['{attention}']"
        )
    else:
        log.info("cpu_model_runner.py:68", f"Starting to load model {model}...")
    if launch.settings.sparse_mla and rank == 0:
        told = "Using fp8_ds_mla KV cache format for FLASHINFER_MLA_SPARSE_SM120 backend."
        log.info("mla_attention.py:529", told)
    log.info("base_loader.py:82", "Initializing model took 0.036520 seconds")
    if gpu is not None:
        share = int(gpu.memory_mib * launch.gpu_memory_utilization)
        gpu_state.grant(launch.gpu_folder_state, gpu.uuid, share)
    _load_weights(launch, rank, log, gpu)
    launch.wait_until(stage.COMPILED)
    if not on_gpu:
        return
    if not launch.enforce_eager and rank == 0:
        cache = os.path.join(
            os.environ.get("VLLM_CACHE_ROOT", os.path.expanduser("~/.cache/vllm")),
            "torch_compile_cache/0123456789/rank_0_0/backbone",
        )
        log.info("backends.py:1105", f"Using cache directory: {cache} for vLLM's torch.compile")
        log.info("backends.py:1167", "Dynamo bytecode transform time: 0.31 s")
        log.info("backends.py:399", "Compiling a graph for compile range (1, 2048) takes 0.52 s")
        log.info("monitor.py:20", "torch.compile took 0.83 s in total")
    log.info("gpu_worker.py:759", "Available KV cache memory: 61.42 GiB")


def _load_weights(launch: Launch, rank: int, log: Log, gpu: gpu_state.Gpu | None) -> None:
    is_dummy = launch.load_format == "dummy"
    if launch.settings.fail == "missing-files" or (not is_dummy and launch.checkpoint.weight_files == 0):
        error = f"RuntimeError: Cannot find any model weights with `{launch.checkpoint.path}`"
        raise failures.WorkerFailed("multiproc_executor.py:953", template("worker-load", error=error), error)
    pretended = launch.settings.shards if launch.on_gpu else 0
    shards = pretended if is_dummy else launch.checkpoint.weight_files
    while launch.settings.hold is not None and os.path.exists(launch.settings.hold):
        time.sleep(0.02)
    began = time.monotonic()
    for done in range(shards + 1):
        launch.wait_until(
            stage.WEIGHTS_FIRST + (stage.WEIGHTS_LAST - stage.WEIGHTS_FIRST) * done / max(shards, 1)
        )
        if done == (shards + 1) // 2:
            failures.raise_while_loading(launch, gpu, rank)
        if rank == 0 and shards and launch.progress_bars:
            passed = time.monotonic() - began
            percent = 100 * done // shards
            write(
                2,
                f"Loading safetensors checkpoint shards: {percent:>3}% Completed | {done}/{shards} [00:{int(passed):02d}<00:00, {done / max(passed, 0.01):.2f}it/s]\n",
            )
    if shards:
        took = time.monotonic() - began
        if launch.load_format != "dummy":
            log.info("default_loader.py:502", f"Loading weights took {took:.2f} seconds")
        if launch.on_gpu:
            log.info("gpu/model_runner.py:425", f"Model loading took 67.43 GiB memory and {took:.6f} seconds")


def _capture(launch: Launch, rank: int) -> None:
    """CUDA graphs: tqdm's line, rewritten with carriage returns unless TQDM_BAR_FORMAT makes lines of it."""
    if not launch.on_gpu or launch.enforce_eager or rank != 0:
        return
    form = os.environ.get("TQDM_BAR_FORMAT")
    total = 6
    for kind in ("PIECEWISE", "FULL"):
        first = stage.CAPTURE_FIRST if kind == "PIECEWISE" else (stage.CAPTURE_FIRST + stage.CAPTURE_LAST) / 2
        for done in range(total + 1):
            launch.wait_until(first + (stage.CAPTURE_LAST - stage.CAPTURE_FIRST) / 2 * done / total)
            percent = 100 * done / total
            if os.environ.get("TQDM_DISABLE") == "1":
                continue
            if form is None:
                text = f"\rCapturing CUDA graphs ({kind}): {percent:3.0f}%|{'█' * done}{' ' * (total - done)}| {done}/{total} [00:00<00:00, 9.99it/s]"
            else:
                text = "\r" + form.format(
                    desc=f"Capturing CUDA graphs ({kind})", percentage=percent, n_fmt=done, total_fmt=total
                )
            write(2, text)
        if form is None and os.environ.get("TQDM_DISABLE") != "1":
            write(2, "\n")
    Log(worker_name(launch, rank)).info(
        "gpu/model_runner.py:1128", "Graph capturing finished in 1 secs, took 0.52 GiB"
    )
