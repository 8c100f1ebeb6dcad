"""One way of writing where a GPU sits on the PCI bus."""

from __future__ import annotations


def normal(address: str) -> str:
    """ "0000:41:00" of "00000000:41:00.0" (nvidia-smi) and of "0000:41:00" (the kernel's log): domain, bus and device."""
    domain, _, rest = address.lower().partition(":")
    return f"{domain[-4:].rjust(4, '0')}:{rest.partition('.')[0]}"
