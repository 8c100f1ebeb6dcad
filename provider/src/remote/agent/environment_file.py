"""Text of a systemd EnvironmentFile. Pure."""

from __future__ import annotations

from collections.abc import Mapping

# Within double quotes these lose their meaning by a backslash; all else, line breaks too, stands for itself.
# Source: systemd.exec(5), EnvironmentFile=; tried with systemd 252.
_SPECIAL = '\\"$`'


def render(environment: Mapping[str, str]) -> str:
    return "".join(f'{name}="{_escaped(value)}"\n' for name, value in environment.items())


def _escaped(value: str) -> str:
    return "".join("\\" + character if character in _SPECIAL else character for character in value)
