"""The API server: `vllm serve` itself. Binds first, starts the engine, and listens when that is ready."""

from __future__ import annotations

import contextlib
import os
import pwd
import signal
import socket
import tempfile
import threading
import time
from argparse import Namespace
from multiprocessing import connection, get_context
from typing import Any, NoReturn

from . import checkpoint, ending, engine, process_tree
from . import launch as stage
from .arguments import non_default
from .http_server import REASONS, HttpServer
from .launch import Launch
from .log import Log, plain, template
from .prepare import EngineConfigRefused, fingerprint_of, keys_of, prepare, tasks_of
from .routes import Api

BANNER = ["", "       █     █     █▄   ▄█", " ▄▄ ▄█ █     █     █ ▀▄▀ █  version {version}", "  █▄█▀ █     █     █     █  model   {model}", "   ▀▀  ▀▀▀▀▀ ▀▀▀▀▀ ▀     ▀", ""]  # fmt: skip
SOCKETS = 3
SOCKET_NAME_LENGTH = 37
LONGEST_SOCKET_PATH = 107


class Signals:
    """TERM and INT are counted and wake the main loop."""

    def __init__(self) -> None:
        self.count = 0
        self.reader, self.writer = socket.socketpair()
        self.reader.setblocking(False)
        self.writer.setblocking(False)
        signal.set_wakeup_fd(self.writer.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._count)
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._count)

    def _count(self, _number: int, _frame: object) -> None:
        self.count += 1

    def drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self.reader.recv(64):
                pass


def serve(args: Namespace, version: str, began: float) -> NoReturn:
    """Runs until the server ends, and ends this process with its exit code."""
    if args.model_tag is not None:
        args.model = args.model_tag
    ApiServer(args, version, began).run()
    raise AssertionError("the server ends its process itself")


class ApiServer:
    def __init__(self, args: Namespace, version: str, began: float) -> None:
        self.args = args
        self.version = version
        self.began = began
        self.log = Log("APIServer")
        self.engine: Any = None
        self.pipe: Any = None
        self.pipe_lock = threading.Lock()

    def run(self) -> None:
        prepare_began = Launch.share_end(self.began, stage.IMPORTED)
        time.sleep(max(prepare_began - time.monotonic(), 0))
        model = self.args.model
        text = (
            "vLLM server version {version}, serving model {model}"
            if os.environ.get("VLLM_DISABLE_LOG_LOGO") == "1"
            else "\n".join(BANNER)
        )
        self.log.info("api_utils.py:347", text.replace("{version}", self.version).replace("{model}", model))
        self.log.info("api_utils.py:286", f"non-default args: {non_default(self.args)}")
        self.signals = Signals()
        self.socket = self._bind()
        os.makedirs(
            os.environ.get(
                "TORCHINDUCTOR_CACHE_DIR", os.path.join(tempfile.gettempdir(), "torchinductor_" + _user())
            ),
            exist_ok=True,
        )
        self.launch = self._decide()
        self.sockets = self._bind_sockets()
        context = get_context("spawn")
        self.pipe, engine_pipe = context.Pipe()
        self.engine = context.Process(target=engine.run, args=(self.launch, engine_pipe), name="EngineCore")
        self.engine.start()
        engine_pipe.close()
        self._wait_for_engine()
        http = self._open()
        self._watch(http)

    def _bind(self) -> socket.socket:
        """SO_REUSEADDR always, listen() only when the engine is ready: two starting servers both get the port."""
        if self.args.uds:
            bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            address: Any = self.args.uds
        else:
            host = self.args.host or ""
            bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            address = (host, self.args.port)
        try:
            bound.bind(address)
        except OSError as error:
            plain(template("api-bind", error=f"{type(error).__name__}: {error}"))
            ending.leave(1)
        return bound

    def _decide(self) -> Launch:
        try:
            launch = prepare(self.args, self.version, self.began)
        except checkpoint.HubUnreachable:
            plain(template("api-offline"))
            ending.leave(1)
        except checkpoint.ConfigRefused as refused:
            self.log.error("repo_utils.py:124", f"Error parsing config for {self.args.model}: {refused}")
            plain(template("api-config", error=str(refused)))
            ending.leave(1)
        except EngineConfigRefused as refused:
            plain(template("api-config", error=str(refused)))
            ending.leave(1)
        self.log.info("model.py:733", f"Resolved architecture: {launch.checkpoint.architecture}")
        self.log.info("model.py:2152", f"Using max model len {launch.max_model_len}")
        return launch

    def _bind_sockets(self) -> list[socket.socket]:
        folder = tempfile.gettempdir()
        if len(folder) + SOCKET_NAME_LENGTH > LONGEST_SOCKET_PATH:
            plain(template("api-socket-path", path=f"{folder}/8024daf2-2ea4-494a-8df2-7356ce9e5cd3"))
            ending.leave(1)
        return engine.bind_left_over_sockets(SOCKETS)

    def _wait_for_engine(self) -> None:
        """One TERM is swallowed here: it interrupts the wait, and the wait goes on. Before the engine answers, it never ends."""
        deadline = self.began + float(os.environ.get("VLLM_ENGINE_READY_TIMEOUT_S", "600"))
        deaf, imported = False, False
        while True:
            sources = [self.signals.reader] if deaf else [self.signals.reader, self.pipe]
            if self.signals.count == 0:
                sources.append(self.engine.sentinel)
            found = connection.wait(sources, max(deadline - time.monotonic(), 0))
            if not found:
                plain(
                    "TimeoutError: Timed out waiting for engine core processes to start. This is often caused by slow weight loading for large models. Waited 600s (configured by VLLM_ENGINE_READY_TIMEOUT_S)."
                )
                process_tree.kill_tree(self.engine.pid, self.log)
                ending.leave(1)
            if self.signals.reader in found:
                self.signals.drain()
                if self.signals.count > 1:
                    ending.interrupt(
                        self.engine, self.launch, self.log, self.signals.reader, lambda: self.signals.count
                    )
                deaf = deaf or not imported
            elif self.pipe in found:
                try:
                    kind, _ = self.pipe.recv()
                    imported = True
                    if kind == "ready":
                        return
                except EOFError:
                    if self.signals.count > 0:
                        deaf = True
                    else:
                        self.engine.join()
                        self._engine_failed()
            else:
                self.engine.join()
                self._engine_failed()

    def _engine_failed(self) -> NoReturn:
        plain(template("api-engine-failed"))
        ending.leave(1)

    def _open(self) -> HttpServer:
        tasks = tasks_of(self.args)
        self.log.info("entry.py:136", f"Supported tasks: {tasks}")
        self.api = Api(
            self.launch, fingerprint_of(self.args, self.version), keys_of(self.args), tasks, self._running
        )
        self.launch.wait_until(stage.ROUTES)
        where = (
            f"unix:{self.args.uds}"
            if self.args.uds
            else f"http://{self.args.host or '0.0.0.0'}:{self.args.port}"
        )
        self.log.info("entry.py:140", f"Starting vLLM server on {where}")
        self.log.info("launcher.py:186", "Available routes are:")
        for path, methods in self.api.route_rows():
            self.log.info("launcher.py:195", f"Route: {path}, Methods: {methods}")
        plain(f"INFO:     Started server process [{os.getpid()}]")
        plain("INFO:     Waiting for application startup.")
        self.launch.wait_until(1.0)
        plain("INFO:     Application startup complete.")
        http = HttpServer(self.api.answer, self._log_access)
        if self.launch.settings.fail != "port-never-listens":
            http.listen(self.socket)
        self.api.stop_listening = http.close
        return http

    def _log_access(self, client: str, line: str, status: int) -> None:
        if not self.args.disable_uvicorn_access_log:
            plain(f'INFO:     {client} - "{line}" {status} {REASONS.get(status, "")}')

    def _running(self, change: int) -> None:
        with self.pipe_lock, contextlib.suppress(OSError):
            self.pipe.send(change)

    def _watch(self, http: HttpServer) -> NoReturn:
        watched: list[Any] = [self.signals.reader, self.pipe, self.engine.sentinel]
        if self.signals.count == 1:
            # The one that was swallowed while the engine started.
            self.signals.count = 0
        while True:
            found = connection.wait(watched)
            if self.signals.reader in found:
                self.signals.drain()
                if self.signals.count > 0:
                    self.api.draining.set()
                    ending.shut_down(self.engine, self.launch.shutdown_timeout, self.log, http)
            else:
                self._engine_died(http, watched)

    def _engine_died(self, http: HttpServer, watched: list[Any]) -> None:
        for source in (self.pipe, self.engine.sentinel):
            watched.remove(source)
        self.api.engine_dead.set()
        self.log.warning(
            "core_client.py:818", "[shutdown] MPClient: engine core exited unexpectedly; starting cleanup"
        )
        if os.environ.get("VLLM_KEEP_ALIVE_ON_ENGINE_DEATH") == "1":
            return
        self.log.error("async_llm.py:707", template("api-engine-dead"))
        time.sleep(self.launch.settings.death_seconds)
        self.engine.join(5)
        ending.end(http, f"INFO:     Finished server process [{os.getpid()}]")


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
