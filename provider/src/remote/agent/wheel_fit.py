"""Whether what a wheel was built for fits the GPUs of the host and their driver."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Callable, Optional

from agent import cuda_versions, gpus
from agent.failure import AgentFailure

_ARCHITECTURE = re.compile(r"(sm|compute)_(\d+)([af]?)")
_CHANGE = (
    "vllm.torchBackend, vllm.version, or vllm.indexUrl and vllm.extraIndexUrls (wheels for another CUDA)"
)


def demand(
    facts: dict[str, Any],
    wanted: Optional[Sequence[str]] = None,
    works_now: Callable[[], bool] = lambda: False,
) -> None:
    """Raises WHEEL_UNSUITABLE. `wanted`: UUIDs that a start gets, each of which has to fit; None: one that fits is enough, which
    of them a start will get is not known yet. `works_now`: asked where the driver is too old by the table. Nothing is said of a
    host without nvidia-smi, of a PyTorch without CUDA, and of what does not tell what it was built for."""
    found, _error = gpus.query()
    # The CPU build of vLLM goes with any PyTorch.
    if not found or facts.get("hip") or not facts.get("cuda") or "+cpu" in str(facts.get("version")):
        return
    among = [gpu for gpu in found if wanted is None or gpu["uuid"] in wanted]
    reason = driver_reason(facts, among[0]["driverVersion"]) if among else None
    # A compatibility package may have come since it was built.
    if reason is not None and works_now():
        reason = None
    if reason is None:
        reasons = [told for told in (gpu_reason(facts, gpu) for gpu in among) if told is not None]
        is_bad = len(reasons) == len(among) if wanted is None else bool(reasons)
        reason = reasons[0] if is_bad and reasons else _extension_reason(facts)
    if reason is not None:
        found_words, change = reason
        raise AgentFailure(
            "WHEEL_UNSUITABLE",
            f"Cannot run vLLM {facts.get('version')} with PyTorch {facts.get('torch')} on this host: {found_words}",
            evidence=f"built for: {' '.join(facts.get('architectures') or []) or 'not told'}",
            change=change
            if wanted is None or len(found) == len(among)
            else f"gpus: those it fits, or {change}",
        )


def driver_now() -> Optional[str]:
    """Version of the NVIDIA driver; None where there is none that answers."""
    found, _error = gpus.query()
    return found[0]["driverVersion"] if found else None


def driver_reason(facts: dict[str, Any], driver: Optional[str]) -> Optional[tuple[str, str]]:
    """(what is wrong, what to change); None: the driver runs it, or it is not known."""
    branch, cuda = _branch(driver), _cuda(facts)
    if branch is None or cuda is None:
        return None
    if facts.get("cudaAvailable") and facts.get("driverVersion") == driver:
        return None  # it has worked with this very driver, by a compatibility package for example
    oldest = cuda_versions.OLDEST_DRIVER_OF_MAJOR.get(cuda[0])
    if oldest is None or branch >= oldest:
        return None
    known = cuda_versions.cuda_of_driver(branch)
    most = "" if known is None else f", which runs CUDA {known[0]}.x at most"
    return (
        f"it is built with CUDA {cuda[0]}.{cuda[1]}, found driver {driver}{most}, need driver {oldest} or newer",
        f"the driver of the host, or {_CHANGE}; on a data center GPU NVIDIA's package cuda-compat-{cuda[0]}-{cuda[1]} does too, its "
        "folder in LD_LIBRARY_PATH of the login environment",
    )


def gpu_reason(facts: dict[str, Any], gpu: dict[str, Any]) -> Optional[tuple[str, str]]:
    """The same for one GPU: machine code for it, or PTX that its driver can compile for it."""
    capability = gpu["computeCapability"]
    built_for = [
        match for text in facts.get("architectures") or () if (match := _ARCHITECTURE.fullmatch(text))
    ]
    if capability is None or not built_for:
        return None
    device = int(capability.replace(".", ""))
    if any(kind == "sm" and _runs(int(number), suffix, device) for kind, number, suffix in _parts(built_for)):
        return None
    named = f"{gpu['name']} has compute capability {capability}"
    intermediate = [int(n) for kind, n, suffix in _parts(built_for) if kind == "compute" and not suffix]
    if not any(number <= device for number in intermediate):
        return (
            f"{named}, found no code for it (see the list), need sm_{device} or an older compute_*",
            _CHANGE,
        )
    branch, cuda = _branch(gpu["driverVersion"]), _cuda(facts)
    if branch is None or cuda is None or cuda_versions.is_newer_than_known(branch):
        return None
    known = cuda_versions.cuda_of_driver(branch)
    if known is None or known >= cuda:
        return None
    return (
        f"{named}, for which it has PTX of CUDA {cuda[0]}.{cuda[1]} only, and driver {gpu['driverVersion']} "
        f"compiles PTX up to CUDA {known[0]}.{known[1]}",
        f"the driver of the host, or {_CHANGE}",
    )


def _extension_reason(facts: dict[str, Any]) -> Optional[tuple[str, str]]:
    """vLLM's own code against another CUDA than PyTorch's, as the loader tells it."""
    for name, error in (facts.get("extensionErrors") or {}).items():
        if "libcudart" in error or "undefined symbol" in error:
            return f"its {name} does not load beside CUDA {facts['cuda']} of PyTorch: {error}", _CHANGE
    return None


def _runs(code: int, suffix: str, device: int) -> bool:
    """Whether machine code for `code` runs on `device`, both like 90 for 9.0."""
    if suffix == "a":
        return code == device
    if code in cuda_versions.ONLY_FOR:
        return device in cuda_versions.ONLY_FOR[code]
    if device in cuda_versions.NOT_FOR.get(code, ()):
        return False
    return code // 10 == device // 10 and code % 10 <= device % 10


def _parts(matches: Sequence[re.Match[str]]) -> list[tuple[str, str, str]]:
    return [(match[1], match[2], match[3]) for match in matches]


def _branch(driver: Optional[str]) -> Optional[int]:
    first = (driver or "").partition(".")[0]
    return int(first) if first.isdigit() else None


def _cuda(facts: dict[str, Any]) -> Optional[tuple[int, int]]:
    numbers = str(facts.get("cuda") or "").split(".")
    if len(numbers) < 2 or not all(number.isdigit() for number in numbers[:2]):
        return None
    return int(numbers[0]), int(numbers[1])
