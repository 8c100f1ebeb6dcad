"""Process titles, as setproctitle sets them: the argument area is overwritten, and the environment area with it."""

from __future__ import annotations

import ctypes
import os

_PR_SET_NAME = 15


def set_title(title: str) -> None:
    """/proc/self/cmdline becomes `title`, comm its first 15 characters. Without SPT_NOENV=1 /proc/self/environ is lost."""
    with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    # Fields 48 to 51 of proc(5), counted from 3 here.
    arg_start, arg_end, env_start, env_end = (int(value) for value in fields[45:49])
    if 0 in (arg_start, arg_end, env_start, env_end):
        return
    # The C library's variables still point into that area; children inherit them, so move them away first.
    for key, value in os.environ.items():
        os.putenv(key, value)
    keep_environment = os.environ.get("SPT_NOENV") not in (None, "", "0")
    end = arg_end if keep_environment else max(env_end, arg_end)
    text = title.encode()[: end - arg_start - 1]
    ctypes.memset(arg_start, 0, end - arg_start)
    ctypes.memmove(arg_start, text, len(text))
    ctypes.CDLL(None).prctl(_PR_SET_NAME, title.encode(), 0, 0, 0)


def prefix() -> str:
    return os.environ.get("VLLM_PROCESS_NAME_PREFIX", "VLLM")
