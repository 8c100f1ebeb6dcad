"""Brings uv to a host that has none: out of its wheel, which an index or the host's pip gives."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Optional

from agent import command, index_choice, index_url, job_children, package_index, records, wheel_choice
from agent.failure import AgentFailure

PROGRAM = "uv"
PIP_SECONDS = 600.0
# Wheels of pip that come with a Python whose pip is not installed. Source: CPython, ensurepip/_bundled; Debian, python3-pip-whl.
_PIP_WHEELS = ("ensurepip/_bundled/pip-*.whl", "/usr/share/python-wheels/pip-*.whl")
_EVIDENCE_LINES = 8


def fetch(version: str, folder: Path, index_declared: Optional[str], login: Mapping[str, str]) -> None:
    """Puts the program into `folder`, whole or not at all. Raises INSTALLER_MISSING, INSTALL_FAILED or DISK_FULL."""
    beside = folder.with_name(f".{folder.name}.{os.getpid()}-{secrets.token_hex(4)}")
    with records.disk_failures("install uv in", folder):
        records.make_folder(beside)
        try:
            index = index_choice.declared_or_configured(index_declared, login)
            if index is not None:
                index_url.hide_logins([index])
                wheel = _by_index(version, beside, index, login)
            else:
                wheel = _by_pip(version, beside, login)
            _unpack(wheel, beside / PROGRAM)
            wheel.unlink()
            _put_in_place(beside, folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def missing(found: str, evidence: Optional[str] = None) -> AgentFailure:
    return AgentFailure(
        "INSTALLER_MISSING",
        f"Cannot build an environment for vLLM: {found}, need uv",
        evidence=evidence,
        change=(
            "one of: install uv on the host (on the login PATH or in ~/.local/bin); set vllm.indexUrl, or UV_DEFAULT_INDEX or "
            "PIP_INDEX_URL in the login environment, to an index that has uv; install pip for the host's python3; "
            "or name a vllm that is there: vllm.executable"
        ),
    )


def _by_index(version: str, folder: Path, index: str, login: Mapping[str, str]) -> Path:
    served = package_index.PackageIndex(index, login)
    files = {file.name: file for file in served.files("uv")}
    machine = wheel_choice.this_machine()
    chosen = wheel_choice.choose(files, "uv", version, machine)
    if chosen is None:
        library = "musl" if machine.glibc is None else "glibc %d.%d" % machine.glibc
        raise missing(
            f"the host has no uv, and the package index {served.shown} has no uv {version} for "
            f"{machine.name} with {library}"
        )
    # Its name comes from the index.
    path = folder / "uv.whl"
    with open(path, "w+b") as file:
        served.fetch(files[chosen], file)
    return path


def _by_pip(version: str, folder: Path, login: Mapping[str, str]) -> Path:
    environment = {**login, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    # No `--only-binary`, no `--no-deps` of one's own configuration can be missed: it is one wheel without needs.
    words = ["download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    log = folder / "pip.log"
    code: Optional[int] = None
    pips = list(_pips(login))
    for pip in pips:
        code = _run([*pip, *words, f"uv=={version}"], environment, log)
        wheels = sorted(folder.glob("uv-*.whl"))
        if code == 0 and wheels:
            log.unlink()
            return wheels[0]
    if not pips:
        raise missing("the host has neither uv nor pip, and nothing tells of a package index")
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-_EVIDENCE_LINES:]
    end = "does not end" if code is None else f"ends with {code}"
    raise missing(f"the host has no uv, and its pip, asked for uv {version}, {end}", "\n".join(lines) or None)


def _run(argv: list[str], environment: Mapping[str, str], log: Path) -> Optional[int]:
    """Exit code; None: it did not end in time. A child of the job, with which it ends."""
    child = job_children.start(argv, environment, log)
    try:
        return child.wait(timeout=PIP_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    finally:
        job_children.stop(child)


def _pips(login: Mapping[str, str]) -> Iterator[list[str]]:
    """Ways to run pip that work here."""
    python = sys.executable or shutil.which("python3", path=login["PATH"])
    for interpreter in dict.fromkeys(filter(None, (python, shutil.which("python3", path=login["PATH"])))):
        asked = command.run([interpreter, "-m", "pip", "--version"], dict(login), 60.0)
        if asked.code == 0:
            yield [interpreter, "-m", "pip"]
    if python:
        bundled = Path(os.__file__).parent
        for pattern in _PIP_WHEELS:
            base, relative = (Path("/"), pattern[1:]) if pattern.startswith("/") else (bundled, pattern)
            for wheel in sorted(base.glob(relative))[-1:]:
                yield [python, f"{wheel}/pip"]


def _unpack(wheel: Path, target: Path) -> None:
    """Of all in the wheel the one program is needed: it is one file and needs nothing beside it."""
    try:
        with zipfile.ZipFile(wheel) as packed:
            inside = next(
                (name for name in packed.namelist() if name.endswith(".data/scripts/" + PROGRAM)), None
            )
            if inside is None:
                raise missing("the wheel of uv that was fetched holds no program")
            source: IO[bytes]
            with packed.open(inside) as source, open(target, "xb") as program:
                shutil.copyfileobj(source, program, 1 << 20)
    except zipfile.BadZipFile as error:
        raise missing("the wheel of uv that was fetched is no archive", str(error)) from error
    target.chmod(0o700)


def _put_in_place(made: Path, target: Path) -> None:
    try:
        os.rename(made, target)
    except OSError:
        theirs, ours = target / PROGRAM, made / PROGRAM
        # Somebody was quicker, and may use it by now; else what does not run is in the way.
        if not (theirs.is_file() and theirs.stat().st_size == ours.stat().st_size):
            shutil.rmtree(target, ignore_errors=True)
            os.rename(made, target)
