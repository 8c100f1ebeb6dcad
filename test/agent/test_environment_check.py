"""environment_check.py, wheel_fit.py: a wheel that does not fit the driver or the GPU is named before a start fails."""

from __future__ import annotations

import unittest

from package_server import catalog
from package_server.wheel import Wheel

from agent import environments, start_check, wheel_fit
from agent.failure import AgentFailure

from .acting import free_port
from .installing import InstallCase

NAME = "00000000000000aa"
CHANGE = "vllm.torchBackend, vllm.version, or vllm.indexUrl and vllm.extraIndexUrls (wheels for another CUDA)"


class EnvironmentCheckTest(InstallCase):
    def gpus(self, *gpus, driver="580.95.05"):
        """(UUID, name, compute capability) each."""
        lines = [
            f"{index}, {uuid}, {name}, 97887, 4, {driver}, {capability}"
            for index, (uuid, name, capability) in enumerate(gpus)
        ]
        table = "\n".join(lines)
        self.program("nvidia-smi", f"#!/bin/sh\ncase \"$1\" in *query-gpu*) cat <<'E'\n{table}\nE\n;; esac\n")

    def torch(self, cuda, *architectures, **more):
        self.index.add(catalog.torch("2.13.0", cuda, architectures, **more))

    def test_what_it_was_built_for_is_recorded(self):
        self.torch("13.0", "sm_90", "sm_120", "compute_120")
        self.install()
        facts = environments.read(NAME)["facts"]
        self.assertEqual(
            {
                name: facts[name]
                for name in ("cuda", "hip", "architectures", "vllm", "version", "driverVersion")
            },
            {
                "cuda": "13.0",
                "hip": None,
                "architectures": ["sm_90", "sm_120", "compute_120"],
                "vllm": "0.32.0",
                "version": "0.32.0",
                "driverVersion": None,
            },
        )

    def test_a_driver_that_is_too_old_for_its_cuda(self):
        self.gpus(("GPU-a", "NVIDIA H100 80GB HBM3", "9.0"), driver="550.54.15")
        self.torch("13.0", "sm_90")
        failure = self.refused(self.wish())
        self.assertEqual(
            (failure.code, failure.summary, failure.evidence, failure.change),
            (
                "WHEEL_UNSUITABLE",
                "Cannot run vLLM 0.32.0 with PyTorch 2.13.0 on this host: it is built with CUDA 13.0, found driver 550.54.15, "
                "which runs CUDA 12.x at most, need driver 580 or newer",
                "built for: sm_90",
                f"the driver of the host, or {CHANGE}; on a data center GPU NVIDIA's package cuda-compat-13-0 does too, its folder "
                "in LD_LIBRARY_PATH of the login environment",
            ),
        )

    def test_a_compatibility_package_counts_as_soon_as_it_is_there(self):
        self.gpus(("GPU-a", "NVIDIA H100 80GB HBM3", "9.0"), driver="550.54.15")
        self.torch("13.0", "sm_90", available="'compat' in os.environ.get('LD_LIBRARY_PATH', '')")
        self.assertEqual(self.refused(self.wish()).code, "WHEEL_UNSUITABLE")
        self.write_profile(LD_LIBRARY_PATH="/usr/local/cuda/compat")
        self.assertFalse(self.install()["built"])
        self.assertEqual(self.check_start("GPU-a").uuids, ["GPU-a"])

    def test_it_is_not_downloaded_again_once_the_driver_is_new(self):
        self.gpus(("GPU-a", "NVIDIA H100 80GB HBM3", "9.0"), driver="550.54.15")
        self.torch("13.0", "sm_90")
        self.refused(self.wish())
        self.gpus(("GPU-a", "NVIDIA H100 80GB HBM3", "9.0"), driver="580.95.05")
        self.assertFalse(self.install()["built"])

    def test_a_gpu_that_it_has_no_code_for(self):
        self.gpus(("GPU-a", "NVIDIA RTX PRO 6000", "12.0"))
        self.torch("12.8", "sm_80", "sm_90a", "sm_100")
        failure = self.refused(self.wish())
        self.assertEqual(
            (failure.code, failure.summary, failure.evidence, failure.change),
            (
                "WHEEL_UNSUITABLE",
                "Cannot run vLLM 0.32.0 with PyTorch 2.13.0 on this host: NVIDIA RTX PRO 6000 has compute capability 12.0, found "
                "no code for it (see the list), need sm_120 or an older compute_*",
                "built for: sm_80 sm_90a sm_100",
                CHANGE,
            ),
        )

    def test_one_gpu_of_several_that_fits_is_enough_until_a_start_wants_the_other(self):
        self.gpus(("GPU-a", "NVIDIA T4", "7.5"), ("GPU-b", "NVIDIA H100", "9.0"))
        self.torch("12.8", "sm_90")
        self.assertTrue(self.install()["built"])
        self.assertEqual(self.check_start("GPU-b").uuids, ["GPU-b"])
        with self.assertRaises(AgentFailure) as caught:
            self.check_start("GPU-a")
        self.assertRegex(caught.exception.summary, "NVIDIA T4 has compute capability 7.5")
        self.assertEqual(
            (caught.exception.code, caught.exception.change),
            ("WHEEL_UNSUITABLE", f"gpus: those it fits, or {CHANGE}"),
        )

    def check_start(self, *uuids):
        launch = {
            "executable": str(environments.executable_path(NAME)),
            "listen": {"address": "127.0.0.1", "port": free_port()},
            "gpus": {"kind": "list", "ids": list(uuids)},
        }
        return start_check.demand("chat-0a1b2c3d", launch)

    def test_a_compiled_part_of_vllm_that_does_not_load_is_told_by_the_loader_and_refused_for_another_cuda(
        self,
    ):
        self.gpus(("GPU-a", "NVIDIA H100", "9.0"))
        self.torch("13.0", "sm_90")
        self.index.add(with_extension("0.32.0", b"no library\n"))
        self.install()
        facts = environments.read(NAME)["facts"]
        self.assertEqual(list(facts["extensionErrors"]), ["_C.abi3.so"])
        self.assertRegex(facts["extensionErrors"]["_C.abi3.so"], r"^ImportError: .*_C\.abi3\.so: ")
        told = "ImportError: libcudart.so.12: cannot open shared object file"
        with self.assertRaises(AgentFailure) as caught:
            wheel_fit.demand({**facts, "extensionErrors": {"_C.abi3.so": told}})
        self.assertEqual(caught.exception.code, "WHEEL_UNSUITABLE")
        self.assertEqual(
            caught.exception.summary.partition(": ")[2],
            f"its _C.abi3.so does not load beside CUDA 13.0 of PyTorch: {told}",
        )

    def test_the_cpu_build_goes_with_any_pytorch(self):
        self.gpus(("GPU-a", "NVIDIA T4", "7.5"), driver="450.80.02")
        self.torch("13.0", "sm_90")
        self.index.add(catalog.vllm("0.32.0+cpu"))
        self.assertEqual(self.install(self.wish("0.32.0+cpu"))["version"], "0.32.0+cpu")

    def test_without_nvidia_smi_and_without_cuda_nothing_is_said(self):
        self.torch("13.0", "sm_90")
        self.assertTrue(self.install()["built"])
        self.gpus(("GPU-a", "NVIDIA T4", "7.5"), driver="450.80.02")
        self.index.add(catalog.torch("2.12.0"))
        self.assertTrue(
            self.install(self.wish("0.31.0", "00000000000000bb", packages=["torch==2.12.0"]))["built"]
        )


def with_extension(version, content):
    whole = catalog.vllm(version)
    files = {**whole.files, "vllm/_C.abi3.so": content}
    return Wheel("vllm", version, files, console_scripts={"vllm": "vllm.command:main"}, requires=("torch",))


class WheelFitTest(unittest.TestCase):
    def fits(self, capability, *architectures, cuda="12.8", driver="580.95.05"):
        facts = {"cuda": cuda, "architectures": architectures}
        gpu = {"name": "G", "computeCapability": capability, "driverVersion": driver}
        return wheel_fit.gpu_reason(facts, gpu) is None

    def test_machine_code_runs_on_its_own_and_later_capabilities_of_the_same_major(self):
        self.assertTrue(self.fits("9.0", "sm_90"))
        self.assertTrue(self.fits("8.9", "sm_80"))
        self.assertTrue(self.fits("12.1", "sm_120"))
        self.assertFalse(self.fits("8.0", "sm_86"))
        self.assertFalse(self.fits("10.0", "sm_90"))
        self.assertFalse(self.fits("8.7", "sm_80"))
        self.assertFalse(self.fits("10.3", "sm_100a"))
        self.assertTrue(self.fits("10.3", "sm_100f"))

    def test_ptx_serves_later_ones_where_the_driver_can_compile_it(self):
        self.assertTrue(self.fits("12.0", "sm_90", "compute_90"))
        self.assertFalse(self.fits("8.0", "compute_90"))
        self.assertFalse(self.fits("12.0", "compute_90a"))
        self.assertTrue(self.fits("12.0", "compute_90", cuda="12.8", driver="570.26"))
        self.assertFalse(self.fits("12.0", "compute_90", cuda="12.9", driver="570.26"))
        self.assertFalse(self.fits("12.0", "compute_90", cuda="12.8", driver="565.57.01"))
        self.assertTrue(self.fits("12.0", "compute_90", cuda="13.2", driver="595.45.04"))
        self.assertFalse(self.fits("12.0", "compute_90", cuda="13.4", driver="610.43.02"))
        self.assertTrue(self.fits("12.0", "compute_90", cuda="13.9", driver="700.10"))

    def test_what_is_not_known_is_no_reason(self):
        self.assertTrue(self.fits(None, "sm_90"))
        self.assertTrue(self.fits("9.0"))
        self.assertIsNone(wheel_fit.driver_reason({"cuda": "14.0"}, "580.1"))
        self.assertIsNone(wheel_fit.driver_reason({"cuda": "13.0"}, None))

    def test_minor_versions_of_cuda_go_with_every_driver_of_their_major(self):
        for cuda, driver, is_good in (
            ("12.9", "525.60.13", True),
            ("12.9", "520.61.05", False),
            ("13.1", "580.65.06", True),
            ("13.0", "575.51.03", False),
            ("11.8", "580.65.06", True),
        ):
            with self.subTest(cuda=cuda, driver=driver):
                self.assertEqual(wheel_fit.driver_reason({"cuda": cuda}, driver) is None, is_good)

    def test_what_has_worked_with_this_driver_is_believed(self):
        facts = {"cuda": "13.0", "cudaAvailable": True, "driverVersion": "550.54.15"}
        self.assertIsNone(wheel_fit.driver_reason(facts, "550.54.15"))
        self.assertIsNotNone(wheel_fit.driver_reason(facts, "550.90.07"))
