"""environment.py: what of the login, of the declaration and of our own a server's processes get."""

import tempfile
import unittest
from pathlib import Path

from agent import environment

LOGIN = {
    "HOME": "/home/ann",
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "LD_LIBRARY_PATH": "/opt/cuda/lib64",
    "HF_HOME": "/data/hf",
    "https_proxy": "http://proxy:3128",
    "CUDA_VISIBLE_DEVICES": "7",
    "VLLM_USE_V1": "0",
    "VLLM_API_KEY": "of-the-profile",
    "PYTHONPATH": "/somewhere",
    "SSH_AUTH_SOCK": "/tmp/agent",
}
OF_MACHINE = {name: LOGIN[name] for name in ("HOME", "LC_ALL", "LD_LIBRARY_PATH", "HF_HOME", "https_proxy")}
OWN = {"PULUMI_VLLM_SERVER": "chat-1", "SPT_NOENV": "1", "TMPDIR": "/tmp/t"}


class EnvironmentTest(unittest.TestCase):
    def build(self, gpus=(), **launch):
        launch = {"executable": "/opt/v/bin/vllm", "environment": {}, "secretEnvironment": {}, **launch}
        return environment.build(LOGIN, launch, "chat-1", Path("/tmp/t"), gpus)

    def test_the_login_gives_what_describes_user_and_machine_and_nothing_that_steers_vllm(self):
        self.assertEqual(self.build(), {**OF_MACHINE, "PATH": "/opt/v/bin:/usr/bin:/bin", **OWN})

    def test_what_lies_beside_the_executable_is_found_also_through_a_link(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            (folder / "real").mkdir()
            (folder / "real" / "vllm").write_text("")
            (folder / "vllm").symlink_to(folder / "real" / "vllm")
            given = self.build(executable=str(folder / "vllm"))
        self.assertEqual(given["PATH"], f"{folder}:{folder}/real:/usr/bin:/bin")

    def test_gpus_are_counted_as_nvidia_smi_counts_them(self):
        given = self.build(gpus=["2", "0"])
        self.assertEqual((given["CUDA_DEVICE_ORDER"], given["CUDA_VISIBLE_DEVICES"]), ("PCI_BUS_ID", "2,0"))

    def test_the_declaration_wins_over_the_login_and_our_marks_over_everything(self):
        given = self.build(
            environment={"NO_COLOR": "1", "HF_HOME": "/ours"},
            secretEnvironment={"HF_HOME": "/mine", "PATH": "/p", "TMPDIR": "/x", "SPT_NOENV": "0"},
        )
        self.assertEqual(given, {**OF_MACHINE, "NO_COLOR": "1", "HF_HOME": "/mine", "PATH": "/p", **OWN})
