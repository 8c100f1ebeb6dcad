"""VLLM::EngineCore: starts the workers, owns the shared memory, drains and tears down."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import tempfile
import time
import uuid
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.shared_memory import SharedMemory
from typing import Any

from . import failures, worker
from . import launch as stage
from .launch import Launch
from .log import Log, frames, plain, template
from .title import prefix, set_title

# The real ones are 251658260 and 167772180 bytes, sparse as these.
SHARED_BYTES = (6_291_456, 4_194_304)
SOCKETS = 4


class _Stop:
    """TERM and INT set a flag and wake the loop; while the workers load nothing looks at it."""

    def __init__(self) -> None:
        self.signal_number: int | None = None
        self.reader, self.writer = socket.socketpair()
        self.writer.setblocking(False)
        signal.set_wakeup_fd(self.writer.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._note)
        signal.signal(signal.SIGINT, self._note)

    def _note(self, number: int, _frame: object) -> None:
        self.signal_number = self.signal_number or number


def bind_left_over_sockets(count: int) -> list[socket.socket]:
    """ZeroMQ's ipc:// sockets: their files stay in TMPDIR for ever."""
    sockets: list[socket.socket] = []
    for _ in range(count):
        one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        one.bind(os.path.join(tempfile.gettempdir(), str(uuid.uuid4())))
        one.listen(1)
        sockets.append(one)
    return sockets


class Engine:
    def __init__(self, launch: Launch, pipe: Connection) -> None:
        self.launch = launch
        self.pipe: Connection | None = pipe
        self.stop = _Stop()
        self.log = Log("EngineCore")
        self.running = 0
        self.workers: list[BaseProcess] = []
        self.status: list[Connection] = []
        self.death: list[Connection] = []
        self.shared: list[SharedMemory] = []
        self.rendezvous = os.path.join(tempfile.gettempdir(), f"vllm_dist_{uuid.uuid4().hex}")

    def run(self) -> None:
        self.launch.wait_until(stage.ENGINE_IMPORTED)
        # From here on the API server has heard of the engine; a TERM before that leaves it waiting for ever.
        self._send(("imported", None))
        self._announce()
        self.sockets = bind_left_over_sockets(SOCKETS)
        self._start_workers()
        try:
            self._wait_for_workers()
            failures.raise_at_kv_cache(self.launch)
            self._report_kv_cache()
            for death in self.death:
                death.send("initialize_from_config")
            self._wait_for_workers()
        except failures.EngineFailed as failure:
            self._fail(str(failure))
        self.launch.wait_until(stage.ENGINE_READY)
        seconds = (stage.ENGINE_READY - stage.WEIGHTS_LAST) * self.launch.settings.start_seconds
        self.log.info(
            "core.py:402", f"init engine (profile, create kv cache, warmup model) took {seconds:.2f} s"
        )
        self._send(("ready", None))
        self._serve()

    def _announce(self) -> None:
        launch = self.launch
        self.log.info(
            "core.py:133",
            f"Initializing a V1 LLM engine (v{launch.version}) with config: model={launch.checkpoint.path!r}, speculative_config=None, "
            f"tokenizer={launch.checkpoint.path!r}, skip_tokenizer_init={launch.tokenizer_skipped}, tokenizer_mode=auto, revision=None, "
            f"trust_remote_code=False, dtype=torch.{launch.checkpoint.dtype}, max_seq_len={launch.max_model_len}, download_dir=None, "
            f"load_format={launch.load_format}, tensor_parallel_size={launch.tensor_parallel}, "
            f"pipeline_parallel_size={launch.pipeline_parallel}, data_parallel_size=1, quantization={launch.quantization}, "
            f"enforce_eager={launch.enforce_eager}, kv_cache_dtype={launch.kv_cache_dtype}, device_config={launch.settings.platform}, "
            f"seed=0, served_model_name={launch.served_names[0]}, enable_prefix_caching={launch.prefix_caching}",
        )
        self.log.info(
            "multiproc_executor.py:153",
            "DP group leader: node_rank=0, node_rank_within_dp=0, master_addr=127.0.0.1, mq_connect_ip=127.0.0.1 (local), "
            f"world_size={launch.world_size}, local_world_size={launch.world_size}",
        )

    def _start_workers(self) -> None:
        context = get_context("spawn")
        self.shared = [SharedMemory(create=True, size=size) for size in SHARED_BYTES]
        for segment in self.shared:
            _touch(segment)
        with open(self.rendezvous, "wb") as file:
            file.write(b"\t\0\0\0refcount/" + b"\0" * 2410)
        names = [segment.name for segment in self.shared]
        for rank in range(self.launch.world_size):
            status, worker_status = context.Pipe(duplex=False)
            worker_death, death = context.Pipe(duplex=False)
            process = context.Process(
                target=worker.run,
                args=(self.launch, rank, worker_status, worker_death, names, f"file://{self.rendezvous}"),
                name=f"VllmWorker-{rank}",
                daemon=True,
            )
            process.start()
            worker_status.close()
            worker_death.close()
            self.workers.append(process)
            self.status.append(status)
            self.death.append(death)
        self._maybe_crash()

    def _maybe_crash(self) -> None:
        settings = self.launch.settings
        if settings.fail == "crash-at" and settings.fail_argument is not None:
            after = self.launch.began + float(settings.fail_argument) - time.monotonic()
            failures.kill_in(after, self.workers[0].pid or 0)

    def _wait_for_workers(self) -> None:
        waiting = list(self.status)
        while waiting:
            for ready in connection.wait(waiting):
                index = self.status.index(ready)  # type: ignore[arg-type]
                waiting.remove(self.status[index])
                self._hear_worker(index)

    def _hear_worker(self, index: int) -> None:
        try:
            kind, error = self.status[index].recv()
        except EOFError:
            self.workers[index].join()
            self.log.error(
                "multiproc_executor.py:315",
                f"Worker proc {self.workers[index].name} died unexpectedly (exit code: {self.workers[index].exitcode}), "
                "shutting down executor.",
            )
            raise failures.EngineFailed(template("engine-worker-gone")) from None
        if kind == "failed":
            after_load = error == failures.CPU_FP8
            raise failures.EngineFailed(
                template("engine-worker-error", error=error) if after_load else template("engine-worker-gone")
            )

    def _fail(self, text: str) -> None:
        """The real one leaves the rendezvous file, and its shared memory to the resource tracker."""
        self.log.error("core.py:1510", text)
        for death in self.death:
            death.close()
        self.log.info("multiproc_executor.py:479", "[shutdown] Executor: waiting for worker exit count=0")
        for process in self.workers:
            process.join(5)
            if process.is_alive():
                process.kill()
                process.join()
        self.log.info("multiproc_executor.py:486", "[shutdown] Executor: all workers exited gracefully")
        lines = text.split("\n")
        head = [
            "Process EngineCore:",
            "Traceback (most recent call last):",
            *template("engine-bootstrap").split("\n"),
            *frames(text),
            *[line for line in lines if not line.startswith("  ")][2:],
        ]
        plain("\n".join(head))
        sys.stdout.flush()
        os._exit(1)

    def _report_kv_cache(self) -> None:
        launch = self.launch
        place = "GPU" if launch.on_gpu else "CPU"
        times = launch.kv_tokens / launch.max_model_len
        self.log.info(
            "kv_cache_utils.py:2327",
            f"{place} KV cache size: {launch.kv_tokens:,} tokens, Maximum concurrency for {launch.max_model_len:,} tokens per request: {times:.2f}x",
        )

    def _send(self, message: tuple[str, object]) -> None:
        try:
            if self.pipe is not None:
                self.pipe.send(message)
        except OSError:
            self.pipe = None

    def _serve(self) -> None:
        """Runs until a signal or a dead worker. The API server's death is not looked for: the engine outlives it."""
        if self.launch.settings.fail == "die-after-ready":
            failures.kill_in(self.launch.settings.die_after_seconds, os.getpid())
        sentinels = [process.sentinel for process in self.workers]
        while self.stop.signal_number is None:
            sources: list[Any] = [
                self.stop.reader,
                *sentinels,
                *([self.pipe] if self.pipe is not None else []),
            ]
            for source in connection.wait(sources):
                if source in sentinels:
                    self._worker_died(sentinels.index(source))
                elif source is self.pipe:
                    self._hear_api_server()
        self._shut_down(signal.Signals(self.stop.signal_number).name)

    def _hear_api_server(self) -> None:
        assert self.pipe is not None
        try:
            self.running += self.pipe.recv()
        except (EOFError, OSError):
            self.pipe = None
            self.running = 0

    def _worker_died(self, index: int) -> None:
        process = self.workers[index]
        process.join()
        self.log.error(
            "multiproc_executor.py:315",
            f"Worker proc {process.name} died unexpectedly (exit code: {process.exitcode}), shutting down executor.",
        )
        self.log.error("core.py:1521", "EngineCore encountered a fatal error.")
        self._send(("dead", None))
        self._release()
        os._exit(1)

    def _shut_down(self, name: str) -> None:
        timeout = self.launch.shutdown_timeout
        self.log.info("core.py:1454", f"[shutdown] EngineCore: trigger received signal={name}")
        self.log.info(
            "core.py:1635",
            f"[shutdown] EngineCore: start mode={'drain' if timeout else 'abort'} timeout={timeout}s",
        )
        deadline = time.monotonic() + timeout
        while self.running > 0 and self.pipe is not None and time.monotonic() < deadline:
            if connection.wait([self.pipe], deadline - time.monotonic()):
                self._hear_api_server()
        self.log.info(
            "core.py:1666", "[shutdown] EngineCore: request processing complete; starting resource teardown"
        )
        self.log.info("core.py:1499", "[shutdown] EngineCore: exiting busy loop")
        self.log.info(
            "multiproc_executor.py:479",
            f"[shutdown] Executor: waiting for worker exit count={len(self.workers)}",
        )
        time.sleep(self.launch.settings.stop_seconds)
        self._release()
        self.log.info("multiproc_executor.py:486", "[shutdown] Executor: all workers exited gracefully")
        sys.stdout.flush()
        os._exit(0)

    def _release(self) -> None:
        for death in self.death:
            death.close()
        for process in self.workers:
            process.join(5)
            if process.is_alive():
                process.kill()
                process.join()
        for segment in self.shared:
            segment.close()
            with contextlib.suppress(FileNotFoundError):
                segment.unlink()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.rendezvous)


def _touch(segment: SharedMemory) -> None:
    if segment.buf is not None:
        segment.buf[:64] = b"\1" * 64


def run(launch: Launch, pipe: Connection) -> None:
    """Body of the process."""
    set_title(f"{prefix()}::EngineCore")
    Engine(launch, pipe).run()
