"""The secrets of a server as they may leave the host: hashed with a salt that the client chose for this one request."""

from __future__ import annotations

import hmac
import json
from typing import Any

from agent import paths, records


def of(server_id: str, salt: str) -> dict[str, str]:
    """By name, hex HMAC-SHA256, keyed with the salt (hex), of each secret that the server was started with.

    The client computes the same of those it knows (remote/secret-hash.ts) and compares: who does not know them learns
    nothing of them but their names, and two requests cannot be compared.
    """
    key = bytes.fromhex(salt)
    return {
        name: hmac.new(key, canonical({name: value}), "sha256").hexdigest()
        for name, value in kept(server_id).items()
    }


def kept(server_id: str) -> dict[str, Any]:
    found = records.read_json(paths.server_folder(server_id) / "secrets.json")
    return found if isinstance(found, dict) else {}


def canonical(value: Any) -> bytes:
    """The same bytes for the same names and values, in any order: JSON in ASCII, names sorted by code point."""
    return json.dumps(value, sort_keys=True).encode("ascii")
