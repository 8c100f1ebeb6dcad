"""Runs the proof beside the watch, so that the log flows and a death is seen while a slow first token is awaited."""

from __future__ import annotations

import threading
import time
from typing import Any, Optional

from agent.http_call import Endpoint, NoAnswer, ServerTrouble
from agent.probe import WrongAnswer
from agent.proof import Wanted, prove

_PAUSE_SECONDS = 0.3
# HTTP 5xx right after the start can pass; one that stays is the answer.
_TROUBLES = 5
_TROUBLE_PAUSE_SECONDS = 1.0


class Prover:
    """`proven` and `refusal` stay None until there is an outcome; one of them is set then."""

    def __init__(self, endpoint: Endpoint, wanted: Wanted) -> None:
        self.proven: Optional[dict[str, Any]] = None
        self.refusal: Optional[str] = None
        self._endpoint = endpoint
        self._wanted = wanted
        self._is_unwanted = threading.Event()
        threading.Thread(target=self._run, name="prover", daemon=True).start()

    def asks(self) -> Optional[str]:
        """What the server was asked last, and has not answered while there is no outcome."""
        return self._endpoint.asked

    def give_up(self) -> None:
        self._is_unwanted.set()

    def _run(self) -> None:
        troubles = 0
        while not self._is_unwanted.is_set():
            try:
                self.proven = prove(self._endpoint, self._wanted)
                return
            except WrongAnswer as error:
                self.refusal = str(error)
                return
            except ServerTrouble as error:
                troubles += 1
                if troubles >= _TROUBLES:
                    self.refusal = str(error)
                    return
                time.sleep(_TROUBLE_PAUSE_SECONDS)
            except NoAnswer:
                time.sleep(_PAUSE_SECONDS)
            except (
                Exception
            ) as error:  # an answer nobody thought of must not leave the watch waiting for its timeout
                self.refusal = f"its answer cannot be read: {type(error).__name__}: {error}"
                return
