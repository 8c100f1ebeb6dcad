"""toolchain.py: compilers that a shell which is no login does not find, and nothing else."""

from __future__ import annotations

import sys

from agent import environment, toolchain

from .bed import HostCase


class ToolchainTest(HostCase):
    def setUp(self):
        super().setUp()
        for name in ("CUDA_PLACES", "PROGRAM_PLACES"):
            self.addCleanup(setattr, toolchain, name, getattr(toolchain, name))
        self.usual = self.home / "usr/bin"
        toolchain.CUDA_PLACES = (f"{self.home}/cuda", f"{self.home}/cuda-*")
        toolchain.PROGRAM_PLACES = (str(self.usual),)
        self.vllm = self.program(str(self.home / "venv/bin/vllm"), "")

    def complete(self, **given):
        return toolchain.complete({"PATH": str(self.bin), **given}, str(self.vllm))

    def tool(self, path):
        return self.program(str(self.home / path), "#!/bin/sh\n")

    def test_what_is_found_already_is_left_alone(self):
        for name in ("nvcc", "gcc", "ninja", "c++"):
            self.tool(f"bin/{name}")
        self.tool("cuda/bin/nvcc")
        self.tool("usr/bin/gcc")
        self.assertEqual(self.complete(), {"PATH": str(self.bin)})
        self.assertEqual(self.missing(), [])

    def test_cuda_is_found_where_it_is_installed_the_newest_first(self):
        for version in ("12.9", "12.10", "13.0"):
            self.tool(f"cuda-{version}/bin/nvcc")
        found = self.complete()
        self.assertEqual(found["CUDA_HOME"], f"{self.home}/cuda-13.0")
        self.assertEqual(found["PATH"], f"{self.bin}:{self.home}/cuda-13.0/bin")
        self.tool("cuda/bin/nvcc")
        self.assertEqual(self.complete()["CUDA_HOME"], f"{self.home}/cuda")

    def test_the_cuda_that_was_set_is_the_one(self):
        self.tool("cuda/bin/nvcc")
        self.tool("opt/mine/bin/nvcc")
        mine = f"{self.home}/opt/mine"
        self.assertEqual(self.complete(CUDA_HOME=mine), {"CUDA_HOME": mine, "PATH": f"{self.bin}:{mine}/bin"})
        self.assertEqual(self.complete(CUDA_HOME="/none"), {"CUDA_HOME": "/none", "PATH": str(self.bin)})

    def test_the_compiler_that_came_with_the_wheels_is_better_than_none(self):
        home = self.home / "venv/lib/python3.12/site-packages/nvidia/cu13"
        self.tool("venv/lib/python3.12/site-packages/nvidia/cu13/bin/nvcc")
        self.assertEqual(self.complete(), {"CUDA_HOME": str(home), "PATH": f"{self.bin}:{home}/bin"})

    def test_a_c_compiler_and_ninja_are_found_where_programs_stand(self):
        self.tool("usr/bin/gcc")
        self.tool("usr/bin/ninja")
        self.assertEqual(self.complete(), {"PATH": f"{self.bin}:{self.usual}"})

    def missing(self, **given):
        """What is said to be missing, without what needs it."""
        told = toolchain.missing(self.complete(**given), str(self.vllm))
        return [line.split(" on the host; needed by ")[0] for line in told]

    def test_what_is_missing_is_named_with_what_needs_it(self):
        told = toolchain.missing(self.complete(), str(self.vllm))
        self.assertEqual(
            told,
            [
                "no C compiler on the host; needed by Triton, whenever vLLM runs on a GPU: gcc or clang, or what CC names",
                "no nvcc on the host; needed by FlashInfer, where it has no built kernel for the GPU: CUDA's compiler (CUDA "
                "toolkit, or CUDA_HOME)",
                "no ninja on the host; needed by FlashInfer, where it has no built kernel for the GPU: ninja, in vLLM's environment "
                "or on the PATH",
                "no C++ compiler on the host; needed by FlashInfer, where it has no built kernel for the GPU: g++ with the name "
                "c++, or what CXX names",
            ],
        )

    def test_compilers_that_variables_name_are_the_only_ones_that_count(self):
        for name in ("nvcc", "gcc", "ninja", "c++"):
            self.tool(f"bin/{name}")
        mine = {"CC": f"{self.tool('odd/mycc')} -m64", "CXX": str(self.tool("odd/mycxx"))}
        self.assertEqual(self.missing(**mine), [])
        self.assertEqual(self.missing(CC="/no/cc", CXX="/no/c++"), ["no C compiler", "no C++ compiler"])
        self.assertEqual(self.missing(CUDA_HOME="/no/cuda"), ["no nvcc"])
        self.assertEqual(self.missing(CUDA_PATH=str(self.home)), [])

    def test_headers_of_its_python_are_looked_for(self):
        for name in ("nvcc", "gcc", "ninja", "c++"):
            self.tool(f"bin/{name}")
        base = self.home / "base"
        python = self.program(
            str(self.home / "venv/bin/python"),
            f'#!/bin/sh\n[ "$1" = -I ] || exit 3\nexec {sys.executable} -I -c "import sysconfig\n'
            f"sysconfig.get_paths = lambda scheme: {{'include': '{base}'}}\n$3\"\n",
        )
        self.assertEqual(self.missing(), ["no Python.h"])
        base.mkdir()
        (base / "Python.h").write_text("")
        self.assertEqual(self.missing(), [])
        python.write_text("#!/bin/sh\nexit 1\n")
        self.assertEqual(self.missing(), [])

    def test_a_server_gets_them(self):
        self.tool("cuda/bin/nvcc")
        given = environment.of_login({"PATH": str(self.bin), "HOME": "/h"}, str(self.vllm))
        self.assertEqual(
            given,
            {
                "HOME": "/h",
                "PATH": f"{self.vllm.parent}:{self.bin}:{self.home}/cuda/bin",
                "CUDA_HOME": f"{self.home}/cuda",
            },
        )
