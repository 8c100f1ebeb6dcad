"""The command line: `vllm --version`, `vllm serve ...`."""

from __future__ import annotations

import glob
import os
import sys
import time
from typing import NoReturn

from .gpu_state import start_ticks

Seconds = float


def installed_version() -> str:
    """Of the dist-info folder beside this package, as importlib.metadata would find it."""
    site = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for path in sorted(glob.glob(os.path.join(site, "vllm-*.dist-info", "METADATA"))):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith("Version:"):
                    return line.partition(":")[2].strip()
    return "0.32.0"


def began() -> Seconds:
    """When this process was started, on time.monotonic()'s clock."""
    ticks = start_ticks(os.getpid())
    now, boot = time.monotonic(), time.clock_gettime(time.CLOCK_BOOTTIME)
    return now if ticks is None else now - (boot - ticks / os.sysconf("SC_CLK_TCK"))


def main() -> NoReturn:
    version = installed_version()
    words = sys.argv[1:]
    if words in (["--version"], ["-v"]):
        print(version)
        sys.exit(0)
    start = began()
    from . import arguments
    from .log import plain

    args = arguments.parse(words, version, plain)
    if args.subparser != "serve":
        plain(f"the stand-in knows `vllm serve` only, not {args.subparser!r}")
        sys.exit(0 if args.subparser is None else 1)
    from . import api_server

    api_server.serve(args, version.partition("+")[0], start)
