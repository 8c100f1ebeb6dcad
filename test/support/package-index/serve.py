"""Serves a package index until it is told to end.

    python3 serve.py CONFIG.json

CONFIG.json, everything optional:
    {"address": "127.0.0.1", "port": 0, "login": {"user": "ann", "password": "sesame"}, "bytesPerSecond": 0,
     "cutAfterBytes": 1000, "cuts": 1,
     "packages": [{"kind": "vllm" | "stand-in-vllm", "version": "0.32.0", "requires": ["torch"]},
                  {"kind": "torch", "version": "2.13.0", "cuda": "13.0", "architectures": ["sm_90", "compute_90"]},
                  {"kind": "uv", "version": "0.13.9", "program": "/path/of/uv"},
                  {"kind": "empty", "name": "huggingface_hub", "version": "2.4.0", "files": 100, "fileBytes": 10000}],
     "wheels": ["/path/of/a/wheel.whl"]}

Each package can have "paddingBytes": one more file, which makes it large.

Prints {"url": ...} once it serves. Each line on stdin is {"bytesPerSecond"?, "cutAfterBytes"?, "cuts"?, "status"?}: a change of
what goes wrong; the answer is {"requests": {path: count}}. The end of stdin ends it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from package_server import catalog
from package_server.index import Index
from package_server.server import serving
from package_server.wheel import Wheel


def _wheel(package: dict[str, Any]) -> Wheel:
    return replace(_made(package), padding_bytes=package.get("paddingBytes", 0))


def _made(package: dict[str, Any]) -> Wheel:
    kind = package["kind"]
    if kind == "torch":
        return catalog.torch(
            package.get("version", "2.13.0"), package.get("cuda"), package.get("architectures", ())
        )
    if kind == "uv":
        return catalog.uv(package["version"], Path(package["program"]))
    if kind == "empty":
        module = package["name"].replace("-", "_")
        text = b"# " + b"x" * (package.get("fileBytes", 0) - 3) + b"\n"
        parts = {f"{module}/part_{number}.py": text for number in range(package.get("files", 0))}
        return Wheel(package["name"], package["version"], {f"{module}/__init__.py": b"", **parts})
    make = catalog.stand_in_vllm if kind == "stand-in-vllm" else catalog.vllm
    return make(package["version"], package.get("requires", ("torch",)))


def _change(index: Index, wish: dict[str, Any]) -> None:
    faults = index.faults
    faults.bytes_per_second = wish.get("bytesPerSecond", faults.bytes_per_second)
    faults.cut_after_bytes = wish.get("cutAfterBytes", faults.cut_after_bytes)
    faults.cuts_left = wish.get("cuts", faults.cuts_left)
    faults.status = wish.get("status", faults.status)


def main() -> None:
    config = json.loads(Path(sys.argv[1]).read_text())
    login = config.get("login")
    index = Index(
        map(_wheel, config.get("packages", ())), (login["user"], login["password"]) if login else None
    )
    for path in map(Path, config.get("wheels", ())):
        index.add_file(path.name.split("-")[0], path.name, path.read_bytes())
    _change(index, config)
    with serving(index, config.get("port", 0), config.get("address", "127.0.0.1")) as url:
        print(json.dumps({"url": url}), flush=True)
        for line in sys.stdin:
            _change(index, json.loads(line))
            print(json.dumps({"requests": dict(index.requests)}), flush=True)


if __name__ == "__main__":
    main()
