"""toolchain.py: compilers that a shell which is no login does not find, and nothing else."""

from __future__ import annotations

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
        for name in ("nvcc", "gcc", "ninja"):
            self.tool(f"bin/{name}")
        self.tool("cuda/bin/nvcc")
        self.tool("usr/bin/gcc")
        self.assertEqual(self.complete(), {"PATH": str(self.bin)})
        self.assertEqual(toolchain.missing(self.complete()), [])

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

    def test_what_is_missing_is_named_with_what_needs_it(self):
        told = toolchain.missing(self.complete())
        self.assertEqual(
            [line.split(";")[0] for line in told],
            ["no cc on the host", "no nvcc on the host", "no ninja on the host"],
        )
        self.assertIn("Triton", told[0])
        self.assertEqual(len(toolchain.missing({**self.complete(), "CC": str(self.tool("odd/mycc"))})), 2)

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
