"""One HTTP request to the server on this host, past any proxy the environment names."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass, field
from typing import Any, Optional

LARGEST_ANSWER = 16 << 20


class NoAnswer(Exception):
    """Refused, cut, timed out or no HTTP: worth another try while the server is young."""


class ServerTrouble(NoAnswer):
    """HTTP 5xx: an answer, but one that can change."""


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes

    def json(self) -> Any:
        """None when the body is no JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    def excerpt(self) -> str:
        """Start of the body on one line, for a message."""
        return " ".join(self.body[:2000].decode("utf-8", "replace").split())[:300]


@dataclass
class Endpoint:
    address: str
    port: int
    # Sent for /v1 only: elsewhere vLLM asks for none.
    api_key: Optional[str]
    # The newest request, like "POST /v1/completions"; None before the first one.
    asked: Optional[str] = field(default=None, compare=False)

    def get(self, path: str, timeout_seconds: float) -> Answer:
        return self._call("GET", path, None, timeout_seconds)

    def post(self, path: str, body: dict[str, Any], timeout_seconds: float) -> Answer:
        return self._call("POST", path, json.dumps(body).encode(), timeout_seconds)

    def _call(self, method: str, path: str, body: Optional[bytes], timeout_seconds: float) -> Answer:
        self.asked = f"{method} {path}"
        headers = {"Connection": "close"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self.api_key is not None and path.startswith("/v1/"):
            headers["Authorization"] = f"Bearer {self.api_key}"
        connection = http.client.HTTPConnection(self.address, self.port, timeout=timeout_seconds)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.read(LARGEST_ANSWER))
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer(f"{method} {path}: {error}") from error
        finally:
            connection.close()
