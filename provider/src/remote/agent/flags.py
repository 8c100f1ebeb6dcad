"""Long flags that the installed vLLM knows. Asking costs 14 s, so the answer is kept per version."""

from __future__ import annotations

import hashlib
import re
import time
from typing import Any

from agent import command, executable, paths, records
from agent.failure import AgentFailure

# Imports of torch and vLLM from a cold network disk take minutes.
DEADLINE_SECONDS = 240.0
LONGEST_EVIDENCE = 500

# What every vllm serve has, and what no search for "all" finds.
_ALWAYS_THERE = {"host", "port", "max-model-len"}

# argparse indents an option by exactly two spaces; its help, and examples in prose, stand deeper.
_OPTION_LINE = re.compile(r"^ {2}(-\S.*)$", re.MULTILINE)
_LONG_FLAG = re.compile(r"--([a-z0-9][a-z0-9._-]*)", re.IGNORECASE)


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Op flags: {version, flags}; names without dashes in front, negative forms ("no-...") too, sorted.

    Raises VLLM_NOT_FOUND when the executable tells its flags neither to `serve --help=all` nor to `serve --help`.
    """
    found = executable.find(request["executable"])
    if not found["found"]:
        raise AgentFailure("VLLM_NOT_FOUND", f"Cannot ask vLLM for its flags: {found['reason']}")
    path, version = found["path"], found["version"]
    digest = hashlib.sha256(f"{path}\n{version}".encode()).hexdigest()[:16]
    kept = paths.flags_folder() / f"{digest}.json"
    known = records.read_json(kept)
    if not isinstance(known, dict) or not known.get("flags"):
        known = {
            "executable": path,
            "version": version,
            "flags": _ask(path, request.get("environment") or {}),
        }
        # Without a version nothing would tell that the answer has become old.
        if version is not None:
            with records.best_effort():
                records.write_json(kept, known)
    return {"version": version, "flags": known["flags"]}


def parse_help(text: str) -> list[str]:
    """Long flags of argparse's help text, without dashes."""
    found = set()
    for line in _OPTION_LINE.findall(text):
        # "-tp N, --tensor-parallel-size N  how many": what comes after two spaces is prose.
        for word in re.split(r",\s+", re.split(r"\s{2,}", line)[0]):
            flag = _LONG_FLAG.match(word)
            if flag is not None:
                found.add(flag.group(1))
    return sorted(found)


def _ask(path: str, declared: dict[str, str]) -> list[str]:
    """Before 0.11 `--help` tells everything, and `--help=all` is an error or finds only the flags with "all" in their names."""
    environment = {**executable.environment_for(path), **declared}
    # A narrow terminal would break long option lists over several lines.
    environment.update({"COLUMNS": "400", "NO_COLOR": "1", "PAGER": "cat"})
    deadline = time.monotonic() + DEADLINE_SECONDS
    for question in ("--help=all", "--help"):
        try:
            told = command.run([path, "serve", question], environment, max(1.0, deadline - time.monotonic()))
        except OSError as error:
            raise AgentFailure("VLLM_NOT_FOUND", f"Cannot run {path}: {error.strerror}") from error
        flags = parse_help(told.stdout)
        if told.code == 0 and _ALWAYS_THERE.issubset(flags):
            return flags
        if told.code is None:
            break
    end = f"no end within {DEADLINE_SECONDS:.0f} s" if told.code is None else "exit code %d" % told.code
    raise AgentFailure(
        "VLLM_NOT_FOUND",
        "Cannot ask %s for its flags: %s and %d flags, need the help text" % (path, end, len(flags)),
        evidence=(told.stderr or told.stdout).strip()[-LONGEST_EVIDENCE:] or None,
    )
