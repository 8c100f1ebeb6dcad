"""Turns standard input into a running agent. Nothing of it is ever written to the host.

Wire format of stdin, written whole by the client (remote/agent-bundle.ts):

    b"<length of Z in bytes, decimal>\\n" + Z + <request, JSON, UTF-8, to the end of stdin>

    Z = zlib.compress(UTF-8 of the JSON object
        {"loader": <text of this file>,
         "modules": {"agent": <text of __init__.py>, "agent.main": <text of main.py>, ...}})

One entry of "modules" per *.py file of this folder except this one: "agent.<file name without .py>", and
"agent" for __init__.py; and each *.sh but launch.sh under its file name, for whoever reads it. The command line is

    sh -c '<launch.sh>' sh '<path of the Python to use, or empty>'

with launch.sh changed by one rule: lines that start with # are left out, the others joined by one space
(csh knows no line breaks inside quotes). Its bootstrap reads length and Z and runs this text with the globals
`modules` (dict) and `request` (bytes).

stdout then holds one event of the agent protocol a line. Exit codes: 0 result; 2 error event, also where length
or Z did not arrive whole; 3 no fitting Python, also an error event; 1 the client is gone, without a last event;
4 the deadline passed and the agent did not come to an end by itself.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import linecache
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType
from typing import Optional

PACKAGE = "agent"


class BundleFinder(importlib.machinery.SourceFileLoader):
    """Imports the package from texts in memory instead of files; tracebacks show their lines.

    Not from importlib.abc, whose import alone costs every run 25 ms.
    """

    def __init__(self, sources: dict[str, str]) -> None:
        super().__init__(PACKAGE, PACKAGE)
        self.sources = sources

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]] = None, target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if fullname not in self.sources:
            return None
        is_package = self.is_package(fullname)
        origin = self.origin(fullname)
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=origin, is_package=is_package)
        spec.has_location = True
        return spec

    def get_source(self, fullname: str) -> str:
        return self.sources[fullname]

    def get_code(self, fullname: str) -> CodeType:
        source = self.sources[fullname]
        origin = self.origin(fullname)
        # Without a time stamp, linecache never looks for the file.
        linecache.cache[origin] = (len(source), None, source.splitlines(True), origin)
        code: CodeType = compile(source, origin, "exec", dont_inherit=True)
        return code

    def is_package(self, fullname: str) -> bool:
        return fullname == PACKAGE

    def get_data(self, path: str) -> bytes:
        """A file of the package that is no module, by its name."""
        return self.sources[path.rpartition("/")[2]].encode("utf-8")

    def origin(self, fullname: str) -> str:
        """The file name that tracebacks show."""
        return fullname.replace(".", "/") + ("/__init__.py" if self.is_package(fullname) else ".py")


def start(sources: dict[str, str], request_bytes: bytes) -> None:
    sys.meta_path.insert(0, BundleFinder(sources))
    importlib.import_module(PACKAGE + ".main").main(request_bytes)


if __name__ == "agent_loader":
    # Set by the bootstrap in launch.sh.
    start(globals()["modules"], globals()["request"])
