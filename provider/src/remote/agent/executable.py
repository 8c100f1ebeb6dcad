"""The vllm of the host: which one, in what environment, of which version."""

from __future__ import annotations

import os
import pwd
import re
import shlex
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Optional

from agent import command, environment, environments, paths

LOGIN_DEADLINE_SECONDS = 10.0
VERSION_DEADLINE_SECONDS = 60.0
POOR_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_MARK = "pulumi-vllm-login-environment"
# Of the shell that was asked, not of the user.
_SHELL_NOISE = ("_", "PWD", "OLDPWD", "SHLVL")
_VERSION = re.compile(r"\d+\.\d+\S*")


@cache
def _login_environment() -> dict[str, str]:
    user = pwd.getpwuid(os.getuid()) if _has_account() else None
    shell = os.environ.get("SHELL") or (user.pw_shell if user else "") or "/bin/sh"
    found = dict(os.environ)
    # csh takes -l only alone: there the non-login environment has to do.
    for option in ("-lc", "-c"):
        asked = _ask_shell(shell, option)
        if asked is not None:
            found = asked
            break
    found = {name: value for name, value in found.items() if name not in _SHELL_NOISE}
    name = user.pw_name if user else str(os.getuid())
    found.setdefault("PATH", POOR_PATH)
    found.update({"HOME": str(paths.home()), "SHELL": shell})
    found.setdefault("USER", name)
    found.setdefault("LOGNAME", name)
    return found


def login_environment() -> dict[str, str]:
    """What a login of the user sets: HOME, USER, LOGNAME, SHELL and PATH always, the rest as it is there.

    Asked once a run with `$SHELL -lc`, 10 s at most; the environment of this process where that fails.
    """
    return dict(_login_environment())


def find(executable: Optional[str]) -> dict[str, Any]:
    """ExecutableSeen of core/observed.ts: the given path or name, "environments/<name>" for one that the tool builds, else
    `vllm` of the login PATH."""
    if executable is not None and environments.is_wish(executable):
        found = environments.find(environments.name_of_wish(executable))
        # As it is now: another hand can have put another one there.
        return {**found, "version": version_of(found["path"])} if found["found"] else found
    if executable is None or "/" not in executable:
        name = executable or "vllm"
        search = login_environment()["PATH"]
        which = shutil.which(name, path=search)
        if which is None:
            return {"found": False, "reason": f"no {name} on the login PATH ({search})"}
        path = paths.expand(which)
    else:
        path = paths.expand(executable)
        if not path.exists():
            return {"found": False, "reason": f"{path} does not exist"}
        if not path.is_file() or not os.access(path, os.X_OK):
            return {"found": False, "reason": f"{path} is not an executable file"}
    return {"found": True, "path": str(path), "version": version_of(str(path))}


def version_of(path: str) -> Optional[str]:
    """Version of the vllm at `path`, from the metadata of its Python environment; None when nothing tells it.

    Only a wrapper whose environment cannot be seen is run (`--version`, 60 s at most): that costs 14 s.
    """
    for prefix in _prefixes(Path(path)):
        version = _installed_version(prefix)
        if version is not None:
            return version
    try:
        told = command.run([path, "--version"], environment_for(path), VERSION_DEADLINE_SECONDS)
    except OSError:
        return None
    words = [line.split()[-1] for line in told.stdout.splitlines() if line.split()]
    versions = [word for word in words if _VERSION.fullmatch(word)]
    return versions[-1] if told.code == 0 and versions else None


def environment_for(path: str) -> dict[str, str]:
    """What a server of this executable gets from the login, so that it is asked in the environment it will run in."""
    return environment.of_login(login_environment(), path)


def _prefixes(path: Path) -> Iterator[Path]:
    interpreter = _interpreter(path)
    if interpreter is not None:
        yield interpreter.parent.parent
    yield path.parent.parent
    yield Path(os.path.realpath(path)).parent.parent


def _interpreter(path: Path) -> Optional[Path]:
    """Python named by the script: `#!/env/bin/python`, `#!/usr/bin/env python3`, or pip's long form."""
    try:
        with open(path, "rb") as file:
            lines = file.read(4096).decode("utf-8", "replace").splitlines()[:2]
    except OSError:
        return None
    if not lines or not lines[0].startswith("#!"):
        return None
    words = _words(lines[0][2:])
    if words and words[0].endswith("/sh") and len(lines) > 1 and lines[1].startswith("'''exec'"):
        words = _words(lines[1][len("'''exec'") :].replace("'''", ""))
    if words and words[0].endswith("/env"):
        words = [shutil.which(words[-1], path=login_environment()["PATH"]) or ""]
    return Path(words[0]) if words and words[0].startswith("/") else None


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _installed_version(prefix: Path) -> Optional[str]:
    for pattern in ("lib*/python3*/site-packages", "lib*/python3*/dist-packages"):
        for metadata in sorted(prefix.glob(pattern + "/vllm-[0-9]*.dist-info/METADATA")):
            try:
                text = metadata.read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            version = re.search(r"^Version:\s*(\S+)", text, re.MULTILINE)
            if version is not None:
                return version.group(1)
    return None


def _ask_shell(shell: str, option: str) -> Optional[dict[str, str]]:
    try:
        told = command.run([shell, option, f"echo {_MARK}; env -0"], dict(os.environ), LOGIN_DEADLINE_SECONDS)
    except OSError:
        return None
    # Login scripts may greet: what counts comes after the last mark.
    _greeting, mark, text = told.stdout.rpartition(_MARK + "\n")
    if not mark:
        return None
    entries = (entry.partition("=") for entry in text.split("\0"))
    found = {name: value for name, sign, value in entries if sign}
    return found if "PATH" in found else None


def _has_account() -> bool:
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return True
