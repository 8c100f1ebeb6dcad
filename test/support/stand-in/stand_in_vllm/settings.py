"""What a test asks of the stand-in, as plain environment variables: the server's own `environment` input can carry them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """STAND_IN_<NAME IN CAPITALS>; seconds are wall seconds."""

    start_seconds: float
    stop_seconds: float
    death_seconds: float
    token_seconds: float
    die_after_seconds: float
    fail: str | None
    fail_argument: str | None
    max_len: int | None
    shards: int
    platform: str
    fp8_kv: str
    #: Attention layers take the one KV cache format that they know, whatever was wished.
    sparse_mla: bool
    gpu_state: str | None
    #: While this file exists, no weights are loaded.
    hold: str | None
    #: The API server whose pid this file holds takes requests and gives no token; those that are being answered go on.
    hold_tokens: str | None


def read(environment: Mapping[str, str] = os.environ) -> Settings:
    """Unset values are the defaults below. STAND_IN_FAIL holds only while the counter file says so (see `_fail`)."""
    fail, _, argument = _fail(environment).partition("=")
    # A build for CPUs where no GPU was handed out, else one for CUDA.
    platform = "cuda" if environment.get("CUDA_VISIBLE_DEVICES") else "cpu"
    return Settings(
        start_seconds=read_start_seconds(environment),
        stop_seconds=float(environment.get("STAND_IN_STOP_SECONDS", "0.3")),
        death_seconds=float(environment.get("STAND_IN_DEATH_SECONDS", "0.5")),
        token_seconds=float(environment.get("STAND_IN_TOKEN_SECONDS", "0")),
        die_after_seconds=float(environment.get("STAND_IN_DIE_AFTER_SECONDS", "0.5")),
        fail=fail or None,
        fail_argument=argument or None,
        max_len=int(environment["STAND_IN_MAX_LEN"]) if environment.get("STAND_IN_MAX_LEN") else None,
        shards=int(environment.get("STAND_IN_SHARDS", "8")),
        platform=environment.get("STAND_IN_PLATFORM", platform),
        fp8_kv=environment.get("STAND_IN_FP8_KV", "unsupported"),
        sparse_mla="STAND_IN_SPARSE_MLA" in environment,
        gpu_state=environment.get("STAND_IN_GPU_STATE"),
        hold=environment.get("STAND_IN_HOLD"),
        hold_tokens=environment.get("STAND_IN_HOLD_TOKENS"),
    )


def read_start_seconds(environment: Mapping[str, str] = os.environ) -> float:
    """The whole start alone: `read` counts a start each time it is called."""
    start = float(environment.get("STAND_IN_START_SECONDS", "2"))
    return start * 10 if environment.get("STAND_IN_FAIL") == "slow" else start


def _fail(environment: Mapping[str, str]) -> str:
    """STAND_IN_FAIL; with STAND_IN_FAIL_TIMES=N and STAND_IN_COUNTER=<file> only in the first N starts."""
    fail = environment.get("STAND_IN_FAIL", "")
    times, counter = environment.get("STAND_IN_FAIL_TIMES"), environment.get("STAND_IN_COUNTER")
    if not fail or times is None or counter is None:
        return fail
    try:
        with open(counter, encoding="ascii") as file:
            started = int(file.read() or "0")
    except FileNotFoundError:
        started = 0
    with open(counter, "w", encoding="ascii") as file:
        file.write(str(started + 1))
    return fail if started < int(times) else ""
