"""How the running process differs from the one that was proven ready: its command line and its environment.

What counts is what was seen then, not what was handed over: an executable that is a wrapper may add to both, and always does.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Optional

from agent import environment, paths, records, run_record, secret_hash
from agent.registry import Server

_HASH_DIGITS = 8
# New with each start: the shell's and systemd's own. Source: systemd.exec(5), "Environment Variables Set or Propagated".
_OF_ONE_START = re.compile(
    r"_|SHLVL|PWD|OLDPWD|INVOCATION_ID|JOURNAL_STREAM|SYSTEMD_.*|MEMORY_PRESSURE_.*|NOTIFY_SOCKET|WATCHDOG_.*|LISTEN_.*"
    r"|MAINPID|MANAGERPID|PIDFILE|SERVICE_RESULT|EXIT_.*|MONITOR_.*|[A-Z]+_DIRECTORY"
)
_SECRET_FLAG = re.compile(r"--(?:\S*[-_])?(?:api-key|token|password|secret)", re.IGNORECASE)


def note(server_id: str, run: Mapping[str, Any], launch: Mapping[str, Any]) -> None:
    """Writes down what the leader of a start that was asked for looks like, once it is proven ready; of values only
    salted hashes. An automatic restart must look the same, and does not overwrite it."""
    leader = run.get("leader")
    if not isinstance(leader, dict) or run.get("generation") != launch.get("generation"):
        return
    arguments, variables = _arguments(leader["pid"]), _environment(leader["pid"])
    if arguments is None or variables is None:
        return
    salt = secrets.token_hex(16)
    with records.best_effort():
        records.write_json(
            _file(server_id),
            {
                **{name: leader[name] for name in ("pid", "startTicks")},
                "generation": run["generation"],
                "salt": salt,
                "arguments": without_keys(arguments),
                "environment": {name: _hash(value, salt) for name, value in variables.items()},
            },
        )


def arguments(server: Server) -> Optional[dict[str, list[str]]]:
    """Words the leader has beyond the proven one's, and words it lacks; None: none, or that cannot be told."""
    noted, leader = _noted(server)
    found = None if leader is None else _arguments(leader)
    if noted is None or found is None:
        return None
    words = without_keys(found)
    added, missing = _beyond(words, noted["arguments"]), _beyond(noted["arguments"], words)
    return {"added": added, "missing": missing} if added or missing else None


def variables(server: Server) -> list[dict[str, Any]]:
    """{name, kind, hash} of every variable that is not as it was; "added" and "missing" say that it was not or is not
    there. What a login sets counts only where it is declared."""
    noted, leader = _noted(server)
    found = None if leader is None else _environment(leader)
    if noted is None or found is None:
        return []
    now = {name: _hash(value, noted["salt"]) for name, value in found.items()}
    before = noted["environment"]
    differing = (name for name in sorted({*now, *before}) if now.get(name) != before.get(name))
    declared = _declared(server)
    return [
        {"name": name, "kind": _kind(name, before, now), "hash": now.get(name)}
        for name in differing
        if name in declared or not (_OF_ONE_START.fullmatch(name) or name in environment.FROM_LOGIN)
    ]


def without_keys(words: Iterable[str]) -> list[str]:
    """A command line that may be kept and told."""
    kept: list[str] = []
    is_key = False
    for word in words:
        name, sign, _value = word.partition("=")
        if is_key:
            kept.append("***")
        elif sign and _SECRET_FLAG.fullmatch(name):
            kept.append(name + "=***")
        else:
            kept.append(word)
        is_key = not is_key and _SECRET_FLAG.fullmatch(word) is not None
    return kept


def _noted(server: Server) -> tuple[Optional[dict[str, Any]], Optional[int]]:
    """What was noted of this launch, and the pid of another process than the one it was noted of."""
    leader = run_record.living(server.run, "leader")
    noted = records.read_json(_file(server.server_id))
    if leader is None or not _fits(noted) or noted["generation"] != (server.launch or {}).get("generation"):
        return None, None
    # A process keeps the command line and the environment that it was started with.
    return (None, None) if leader == (noted["pid"], noted["startTicks"]) else (noted, leader[0])


def _fits(noted: Any) -> bool:
    return (
        isinstance(noted, dict)
        and all(isinstance(noted.get(name), int) for name in ("pid", "startTicks", "generation"))
        and isinstance(noted.get("salt"), str)
        and isinstance(noted.get("arguments"), list)
        and isinstance(noted.get("environment"), dict)
    )


def _declared(server: Server) -> set[str]:
    kept = secret_hash.kept(server.server_id)
    given = (server.launch or {}).get("environment")
    return {*kept, *(given if isinstance(given, dict) else ())}


def _kind(name: str, before: Mapping[str, str], now: Mapping[str, str]) -> str:
    if name not in before:
        return "added"
    return "changed" if name in now else "missing"


def _beyond(words: Iterable[str], others: Iterable[str]) -> list[str]:
    left = list(others)
    beyond = []
    for word in words:
        if word in left:
            left.remove(word)
        else:
            beyond.append(word)
    return beyond


def _arguments(pid: int) -> Optional[list[str]]:
    return _words(pid, "cmdline")


def _environment(pid: int) -> Optional[dict[str, str]]:
    words = _words(pid, "environ")
    if words is None:
        return None
    pairs = (word.partition("=") for word in words)
    return {name: value for name, sign, value in pairs if sign}


def _words(pid: int, name: str) -> Optional[list[str]]:
    """None: it is gone, or has overwritten them."""
    try:
        text = Path(f"/proc/{pid}/{name}").read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return None
    return text.rstrip("\0").split("\0") if text.strip("\0") else None


def _hash(value: str, salt: str) -> str:
    digest = hmac.new(salt.encode("ascii"), value.encode("utf-8", "surrogateescape"), hashlib.sha256)
    return digest.hexdigest()[:_HASH_DIGITS]


def _file(server_id: str) -> Path:
    return paths.server_folder(server_id) / "proven.json"
