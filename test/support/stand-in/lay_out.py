"""Lays the stand-in out as an installed vLLM: FOLDER/bin/vllm with its own Python environment, FOLDER/gpu/nvidia-smi.

    python3 lay_out.py FOLDER [--version 0.32.0] [--gpus GPUS.json] [--gpu-folder SHARED]

Prints {"executable": ..., "nvidiaSmiFolder": ...}. The environment has the layout of a real one: a shebang with its own
bin/python3, pyvenv.cfg, lib/pythonX.Y/site-packages with vllm-<version>.dist-info/METADATA. --gpus is the model of the GPUs
(see gpu_state.py); --gpu-folder is the `gpu` folder of another layout on the same host, shared by both.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def write(path: str, text: str, mode: int = 0o644) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def lay_out_environment(folder: str, version: str) -> str:
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    link = os.path.join(folder, "bin", "python3")
    os.makedirs(os.path.dirname(link), exist_ok=True)
    if not os.path.lexists(link):
        os.symlink(python, link)
    write(
        os.path.join(folder, "pyvenv.cfg"),
        f"home = {os.path.dirname(python)}\ninclude-system-site-packages = false\n",
    )
    site = os.path.join(folder, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages")
    shutil.copytree(
        os.path.join(HERE, "stand_in_vllm"),
        os.path.join(site, "stand_in_vllm"),
        ignore=shutil.ignore_patterns("__pycache__"),
        dirs_exist_ok=True,
    )
    for old in os.listdir(site):
        if old.startswith("vllm-") and old.endswith(".dist-info"):
            shutil.rmtree(os.path.join(site, old))
    write(
        os.path.join(site, f"vllm-{version}.dist-info", "METADATA"),
        f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}\n",
    )
    executable = os.path.join(folder, "bin", "vllm")
    body = "import sys\n\nif __name__ == '__main__':\n    from stand_in_vllm.main import main\n\n    sys.exit(main())\n"
    write(executable, f"#!{link}\n{body}", 0o755)
    return executable


def lay_out_gpus(folder: str, gpus: str | None) -> str:
    """Grants lie beside nvidia-smi, so that it finds them without any environment."""
    config = {}
    if gpus is not None:
        with open(gpus, encoding="utf-8") as file:
            config = json.load(file)
    config.setdefault("state", os.path.join(folder, "state"))
    write(os.path.join(folder, "gpus.json"), json.dumps(config, indent=2) + "\n")
    os.makedirs(str(config["state"]), exist_ok=True)
    shutil.copyfile(os.path.join(HERE, "stand_in_vllm", "gpu_state.py"), os.path.join(folder, "gpu_state.py"))
    with open(os.path.join(HERE, "nvidia_smi.py"), encoding="utf-8") as file:
        text = file.read()
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    write(os.path.join(folder, "nvidia-smi"), f"#!{python} -IB\n{text}", 0o755)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--version", default=os.environ.get("STAND_IN_VERSION", "0.32.0"))
    parser.add_argument("--gpus")
    parser.add_argument("--gpu-folder")
    given = parser.parse_args()
    folder = os.path.abspath(given.folder)
    executable = lay_out_environment(folder, given.version)
    if given.gpu_folder is not None:
        gpu_folder = os.path.abspath(given.gpu_folder)
        write(os.path.join(folder, "gpu-folder.txt"), gpu_folder + "\n")
    else:
        gpu_folder = lay_out_gpus(os.path.join(folder, "gpu"), given.gpus)
    print(json.dumps({"executable": executable, "nvidiaSmiFolder": gpu_folder}))


if __name__ == "__main__":
    main()
