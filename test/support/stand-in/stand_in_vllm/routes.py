"""Which paths answer what, for a generating and for a pooling server."""

from __future__ import annotations

import hmac
import json
import os
import threading
import time
import uuid
from collections.abc import Iterator
from typing import Any, Callable

from . import completions, failures, metrics
from .http_server import Request, Response, json_response
from .launch import Launch

# Source: the log of 0.32.0, "Route: ..." lines, in their order.
ALWAYS_BEFORE = ["/openapi.json GET, HEAD", "/docs GET, HEAD", "/docs/oauth2-redirect GET, HEAD", "/redoc GET, HEAD", "/load GET", "/version GET", "/kv_event_sources GET", "/health GET", "/metrics GET", "/tokenize POST", "/detokenize POST", "/v1/models GET"]  # fmt: skip
GENERATE = ["/v1/systemone POST", "/ping GET", "/ping POST", "/invocations POST", "/v1/chat/completions POST", "/v1/chat/completions/batch POST", "/v1/responses POST", "/v1/responses/{response_id} GET", "/v1/responses/{response_id}/cancel POST", "/v1/completions POST", "/v1/messages POST", "/v1/messages/count_tokens POST", "/generative_scoring POST", "/scale_elastic_ep POST", "/is_scaling_elastic_ep POST"]  # fmt: skip
POOLING = ["/ping GET", "/ping POST", "/invocations POST", "/v1/embeddings POST", "/v2/embed POST", "/pooling POST", "/score POST", "/v1/score POST", "/rerank POST", "/v1/rerank POST", "/v2/rerank POST"]  # fmt: skip
# Source: vllm/entrypoints/serve/middleware/authenticate.py.
GUARDED = ("/v1", "/v2", "/inference", "/cohere")

Handler = Callable[[Request], Response]


class Api:
    """Answers requests. `engine_dead` and `draining` are set by the API server; `on_running` hears +1 and -1 of each request."""

    def __init__(
        self,
        launch: Launch,
        fingerprint: str | None,
        keys: list[str],
        tasks: list[str],
        on_running: Callable[[int], None],
    ) -> None:
        self.launch = launch
        self.keys = keys
        self.generates = "generate" in tasks
        self.on_running = on_running
        self.engine_dead = threading.Event()
        self.draining = threading.Event()
        self.served = 0
        self.running = 0
        self.tokens = 0
        checkpoint = launch.checkpoint
        self.model = completions.Model(
            names=list(launch.served_names),
            max_len=launch.max_model_len,
            has_tokenizer=not launch.tokenizer_skipped,
            fingerprint=fingerprint,
            token_seconds=launch.settings.token_seconds,
            vocabulary=checkpoint.vocabulary,
        )
        #: Closes the listening socket; set once there is one.
        self.stop_listening: Callable[[], None] = lambda: None
        self.handlers: dict[tuple[str, str], Handler] = self._handlers()

    def route_rows(self) -> list[tuple[str, str]]:
        rows = [*ALWAYS_BEFORE, *(GENERATE if self.generates else POOLING)]
        return [(row.split(" ", 1)[0], row.split(" ", 1)[1]) for row in rows]

    def _handlers(self) -> dict[tuple[str, str], Handler]:
        handlers: dict[tuple[str, str], Handler] = {
            ("GET", "/health"): self._health,
            ("GET", "/ping"): self._health,
            ("POST", "/ping"): self._health,
            ("GET", "/load"): lambda _: json_response({"server_load": 0}),
            ("GET", "/version"): lambda _: json_response({"version": self.launch.version}),
            ("GET", "/metrics"): lambda _: Response(
                200,
                self._metrics(),
                "text/plain; version=1.0.0; charset=utf-8",
            ),
            ("GET", "/openapi.json"): self._openapi,
            ("GET", "/v1/models"): self._models,
            ("POST", "/tokenize"): self._tokenize,
        }
        if self.generates:
            handlers[("POST", "/v1/completions")] = lambda request: self._generate(request, chat=False)
            handlers[("POST", "/v1/chat/completions")] = lambda request: self._generate(request, chat=True)
            handlers[("POST", "/invocations")] = self._invocations
        else:
            handlers[("POST", "/v1/embeddings")] = self._embed
            handlers[("POST", "/invocations")] = self._embed
            handlers[("POST", "/pooling")] = self._embed
        return handlers

    def answer(self, request: Request) -> Response:
        if self.keys and request.path.startswith(GUARDED) and not self._has_key(request):
            return json_response({"error": "Unauthorized"}, 401)
        handler = self.handlers.get((request.method, request.path))
        if handler is not None:
            return handler(request)
        if any(path == request.path for path, _ in self.route_rows()):
            if (request.method, request.path) in {
                (method, path) for path, methods in self.route_rows() for method in methods.split(", ")
            }:
                return completions.error(
                    "the stand-in does not answer this route", "NotImplementedError", 500
                )
            return json_response({"detail": "Method Not Allowed"}, 405)
        return json_response({"detail": "Not Found"}, 404)

    def _has_key(self, request: Request) -> bool:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and any(
            hmac.compare_digest(token.encode(), key.encode()) for key in self.keys
        )

    def _health(self, _: Request) -> Response:
        return Response(503 if self.engine_dead.is_set() else 200, "", None)

    def _models(self, _: Request) -> Response:
        created = int(time.time())
        permission = {
            "id": f"modelperm-{uuid.uuid4().hex[:16]}", "object": "model_permission", "created": created, "allow_create_engine": False,
            "allow_sampling": True, "allow_logprobs": True, "allow_search_indices": False, "allow_view": True,
            "allow_fine_tuning": False, "organization": "*", "group": None, "is_blocking": False,
        }  # fmt: skip
        data = [
            {
                "id": name, "object": "model", "created": created, "owned_by": "vllm", "root": self.launch.checkpoint.path,
                "parent": None, "max_model_len": self.launch.max_model_len, "permission": [permission],
            }
            for name in self.model.names
        ]  # fmt: skip
        return json_response({"object": "list", "data": data})

    def _openapi(self, _: Request) -> Response:
        paths: dict[str, dict[str, object]] = {}
        for path, methods in self.route_rows():
            if path not in ("/openapi.json", "/docs", "/docs/oauth2-redirect", "/redoc"):
                for method in methods.split(", "):
                    paths.setdefault(path, {})[method.lower()] = {
                        "responses": {"200": {"description": "Successful Response"}}
                    }
        return json_response(
            {"openapi": "3.1.0", "info": {"title": "FastAPI", "version": "0.1.0"}, "paths": paths}
        )

    def _body(self, request: Request) -> tuple[dict[str, Any], Response | None]:
        try:
            body = json.loads(request.body or b"null")
        except ValueError as problem:
            return {}, completions.error(
                f"1 validation error:\n  {{'type': 'json_invalid', 'msg': 'JSON decode error', 'ctx': {{'error': '{problem}'}}}}",
                "Bad Request",
                400,
            )
        if not isinstance(body, dict):
            return {}, completions.error(
                "1 validation error:\n  {'type': 'missing', 'loc': ('body',), 'msg': 'Field required', 'input': None}",
                "Bad Request",
                400,
            )
        return body, None

    def _tokenize(self, request: Request) -> Response:
        body, refusal = self._body(request)
        if refusal is not None:
            return refusal
        count = completions.prompt_tokens(body.get("prompt", ""))
        return json_response(
            {
                "count": count,
                "max_model_len": self.launch.max_model_len,
                "tokens": list(range(count)),
                "token_strs": None,
            }
        )

    def _invocations(self, request: Request) -> Response:
        body, refusal = self._body(request)
        return refusal or self._generate(request, chat="messages" in body)

    def _generate(self, request: Request, chat: bool) -> Response:
        body, refusal = self._body(request)
        if refusal is not None:
            return refusal
        if self.engine_dead.is_set():
            return completions.error(
                "EngineCore encountered an issue. See stack trace (above) for the root cause.",
                "InternalServerError",
                500,
            )
        stop_at_once = self.draining.is_set()
        abort_all = self.launch.shutdown_timeout == 0
        self.on_running(1)
        self._wait_for_a_place()
        self.running += 1
        response = completions.complete(
            self.model,
            body,
            chat,
            lambda: stop_at_once or self.engine_dead.is_set() or (abort_all and self.draining.is_set()),
        )
        if isinstance(response.body, str):
            self._finished()
            return response
        pieces = response.body

        def watched() -> Iterator[str]:
            try:
                for piece in pieces:
                    self.tokens += 1
                    yield piece
            finally:
                self._finished()

        return Response(response.status, watched(), response.content_type)

    def _metrics(self) -> str:
        load = metrics.Load(self.served, self.running, 0, self.tokens)
        if self._is_busy():
            load = failures.busy(load)
        return metrics.render(self.launch, load)

    def _is_busy(self) -> bool:
        return self.launch.settings.fail == "busy" and self.served > 0

    def _wait_for_a_place(self) -> None:
        if self.launch.settings.fail == "hang-after-ready" and self.served > 0:
            failures.tell_hang()
        while self._is_held() and not (self.draining.is_set() or self.engine_dead.is_set()):
            time.sleep(0.05)

    def _is_held(self) -> bool:
        if self._is_busy() or (self.launch.settings.fail == "hang-after-ready" and self.served > 0):
            return True
        path = self.launch.settings.hold_tokens
        if path is None:
            return False
        try:
            with open(path, encoding="ascii") as file:
                return file.read().strip() == str(os.getpid())
        except OSError:
            return False

    def _finished(self) -> None:
        self.served += 1
        self.running -= 1
        self.on_running(-1)
        if self.launch.settings.fail == "deaf-after-ready":
            self.stop_listening()

    def _embed(self, request: Request) -> Response:
        body, refusal = self._body(request)
        return refusal or completions.embed(self.model, body)
