"""A stand-in for nvidia-smi: the queries a host agent makes, and a table for people. Memory is what live stand-in servers hold."""

from __future__ import annotations

import os
import sys
import time
from typing import Callable

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import gpu_state
from gpu_state import Gpu, Grant, Machine

Units = bool
TABLES = ("--query-gpu", "--query-compute-apps", "--query-remapped-rows")


def _gpu_fields(machine: Machine, grants: list[Grant]) -> dict[str, Callable[[Gpu, Units], str]]:
    def mib(amount: int, units: Units) -> str:
        return f"{amount} MiB" if units else str(amount)

    return {
        "index": lambda gpu, units: str(gpu.index),
        "uuid": lambda gpu, units: gpu.uuid,
        "gpu_uuid": lambda gpu, units: gpu.uuid,
        "name": lambda gpu, units: gpu.name,
        "gpu_name": lambda gpu, units: gpu.name,
        "memory.total": lambda gpu, units: mib(gpu.memory_mib, units),
        "memory.used": lambda gpu, units: mib(gpu_state.used_mib(grants, gpu.uuid), units),
        "memory.free": lambda gpu, units: mib(gpu.memory_mib - gpu_state.used_mib(grants, gpu.uuid), units),
        "compute_cap": lambda gpu, units: gpu.compute_capability,
        "driver_version": lambda gpu, units: machine.driver,
        "count": lambda gpu, units: str(len(machine.gpus)),
        "utilization.gpu": lambda gpu, units: "0 %" if units else "0",
        "pci.bus_id": lambda gpu, units: gpu.bus_id,
        "persistence_mode": lambda gpu, units: "Enabled" if gpu.is_persistent else "Disabled",
        "compute_mode": lambda gpu, units: gpu.compute_mode,
        "mig.mode.current": lambda gpu, units: "Enabled" if gpu.is_mig else "Disabled",
        "ecc.errors.uncorrected.volatile.total": lambda gpu, units: str(gpu.uncorrected_errors),
        # Of Volta and older; later ones remap rows.
        "retired_pages.pending": lambda gpu, units: "[N/A]",
    }


def _row_fields() -> dict[str, Callable[[Gpu, Units], str]]:
    return {
        "gpu_uuid": lambda gpu, units: gpu.uuid,
        "gpu_bus_id": lambda gpu, units: gpu.bus_id,
        "remapped_rows.correctable": lambda gpu, units: "0",
        "remapped_rows.uncorrectable": lambda gpu, units: "0",
        "remapped_rows.pending": lambda gpu, units: str(int(gpu.is_remap_pending)),
        "remapped_rows.failure": lambda gpu, units: str(int(gpu.has_remap_failed)),
    }


def _process_name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")[0].decode(errors="replace") or "[Not Found]"
    except OSError:
        return "[Not Found]"


def _app_fields(machine: Machine) -> dict[str, Callable[[Grant, Units], str]]:
    names = {gpu.uuid: gpu.name for gpu in machine.gpus}
    return {
        "gpu_uuid": lambda held, units: held.uuid,
        "gpu_name": lambda held, units: names.get(held.uuid, ""),
        "pid": lambda held, units: str(held.pid),
        "process_name": lambda held, units: _process_name(held.pid),
        "name": lambda held, units: _process_name(held.pid),
        "used_memory": lambda held, units: f"{held.mib} MiB" if units else str(held.mib),
        "used_gpu_memory": lambda held, units: f"{held.mib} MiB" if units else str(held.mib),
    }


def _print_csv(fields: list[str], rows: list[list[str]], header: bool) -> None:
    if header:
        print(", ".join(fields))
    for row in rows:
        print(", ".join(row))


def _query(words: list[str], machine: Machine, grants: list[Grant]) -> int:
    options = dict(word.split("=", 1) for word in words if "=" in word)
    form = options.get("--format", "").split(",")
    if "csv" not in form:
        print(
            'Cannot use "--format" without csv' if "--format" in options else 'Missing "--format="',
            file=sys.stderr,
        )
        return 2
    units, header = "nounits" not in form, "noheader" not in form
    table = next(name for name in TABLES if name in options)
    wanted = [name.strip() for name in options[table].split(",")]
    app_fields = _app_fields(machine)
    gpu_fields = _row_fields() if table == "--query-remapped-rows" else _gpu_fields(machine, grants)
    is_apps = table == "--query-compute-apps"
    for name in wanted:
        if name not in (app_fields if is_apps else gpu_fields) or name in machine.unknown_fields:
            print(f'Field "{name}" is not a valid field to query.\n')
            return 2
    if is_apps:
        rows = [[app_fields[name](held, units) for name in wanted] for held in grants]
    else:
        rows = [[gpu_fields[name](gpu, units) for name in wanted] for gpu in machine.gpus]
    _print_csv(wanted, rows, header)
    return 0


def _table(machine: Machine, grants: list[Grant]) -> None:
    line = "+" + "-" * 89 + "+"
    print(time.strftime("%a %b %e %H:%M:%S %Y"))
    print(line)
    print(
        f"| {'NVIDIA-SMI ' + machine.driver:<27} {'Driver Version: ' + machine.driver:<33} {'CUDA Version: 13.0':<26}|"
    )
    print(line)
    for gpu in machine.gpus:
        used = f"{gpu_state.used_mib(grants, gpu.uuid)}MiB / {gpu.memory_mib}MiB"
        print(f"| {gpu.index:>3}  {gpu.name:<52} {used:>28}  |")
    print(line)
    print(f"| {'Processes:':<88}|")
    index = {gpu.uuid: gpu.index for gpu in machine.gpus}
    for held in grants:
        print(
            f"| {index.get(held.uuid, -1):>3}  {held.pid:>10}   C   {_process_name(held.pid):<48} {str(held.mib) + 'MiB':>18} |"
        )
    if not grants:
        print(f"|  {'No running processes found':<87}|")
    print(line)


def main() -> int:
    machine = gpu_state.read_machine(os.path.dirname(os.path.abspath(__file__)))
    grants = gpu_state.live_grants(machine.state)
    words = sys.argv[1:]
    if any(word.startswith(tuple(f"{name}=" for name in TABLES)) for word in words):
        return _query(words, machine, grants)
    if words in (["-L"], ["--list-gpus"]):
        for gpu in machine.gpus:
            print(f"GPU {gpu.index}: {gpu.name} (UUID: {gpu.uuid})")
        return 0
    if words:
        print("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n")
        return 2
    _table(machine, grants)
    return 0


sys.exit(main())
