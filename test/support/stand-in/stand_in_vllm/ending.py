"""Ways an API server ends: stopped when ready, interrupted while starting, left by its engine."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from multiprocessing import connection
from typing import Any, NoReturn

from . import process_tree
from .http_server import HttpServer
from .launch import Launch
from .log import Log, plain


def leave(code: int) -> NoReturn:
    """At once; the resource tracker sees to what is left in shared memory."""
    sys.stdout.flush()
    os._exit(code)


def interrupt(engine: Any, launch: Launch, log: Log, wake: Any, count: Any) -> NoReturn:
    """A second TERM while starting: the finalizer stops the engine, unless a third one cuts it short; then death by SIGINT."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(engine.pid, signal.SIGTERM)
    seen = count()
    connection.wait([engine.sentinel, wake], launch.settings.stop_seconds)
    if count() == seen:
        process_tree.kill_tree(engine.pid, log)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
    raise AssertionError("SIGINT ends this process")


def shut_down(engine: Any, timeout: int, log: Log, http: HttpServer) -> NoReturn:
    """TERM to a ready server: drain up to `timeout` seconds, then kill; 0 kills at once."""
    say = log.info
    say("launcher.py:254", "[shutdown] API server: shutdown triggered")
    say(
        "launcher.py:270",
        f"[shutdown] API server: stopping engine client mode={'drain' if timeout else 'abort'} timeout={timeout}s",
    )
    say("core_client.py:770", f"[shutdown] MPClient: start timeout={timeout}s")
    say("core_client.py:772", "[shutdown] MPClient: stopping engine manager")
    if engine.is_alive():
        say("utils.py:628", "[shutdown] Process manager: send sigterm to process EngineCore")
        engine.terminate()
        connection.wait([engine.sentinel], timeout)
    if engine.is_alive():
        log.warning("utils.py:648", "[shutdown] Process manager: force killing remaining processes count=1")
        log.warning(
            "utils.py:653",
            f"[shutdown] Process manager: force killing remaining process EngineCore pid {engine.pid}",
        )
        process_tree.kill_tree(engine.pid, log)
        if timeout:
            http.stuck.set()
    engine.join(5)
    for place, text in (
        (774, "engine manager stopped"),
        (775, "cleaning up background resources"),
        (777, "complete"),
    ):
        say(f"core_client.py:{place}", f"[shutdown] MPClient: {text}")
    say("launcher.py:279", "[shutdown] API server: engine client stopped")
    say("launcher.py:282", "[shutdown] API server: signalling HTTP server shutdown")
    say("launcher.py:304", "[shutdown] API server: shutting down FastAPI HTTP server")
    end(http)


def end(http: HttpServer, *last: str) -> NoReturn:
    """The HTTP server goes last."""
    plain("INFO:     Shutting down")
    http.close()
    told = False
    # Requests that end by themselves get their last bytes out; one on a dead engine waits until its client hangs up.
    while http.busy:
        if not told and http.stuck.is_set():
            plain("INFO:     Waiting for connections to close. (CTRL+C to force quit)")
            told = True
        time.sleep(0.01)
    plain("INFO:     Waiting for application shutdown.")
    plain("INFO:     Application shutdown complete.")
    for line in last:
        plain(line)
    leave(0)
