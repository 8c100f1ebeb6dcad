"""gpus.py and gpu_seen.py: what nvidia-smi says, also when it says it oddly, and whose it is."""

import os
import signal
import warnings
from unittest import mock

from agent import command, gpu_seen, gpus, registry

from .bed import OWNER, SUPERVISOR, HostCase, identity

# Answers by query; every unknown field is refused the way the real one does.
SMI = """#!/bin/sh
case "$1" in
  *compute_cap*) [ -n "$OLD_DRIVER" ] && echo 'Field "compute_cap" is not a valid field to query.' && exit 2 ;;
esac
case "$1" in
  --query-gpu=index,*) cat "$HOME/gpus.csv"; exit ${CODE:-0} ;;
  --query-gpu=uuid,*) cut -d, -f2,5 "$HOME/gpus.csv" ;;
  --query-compute-apps=*) cat "$HOME/apps.csv" ;;
esac
"""
TWO = (
    "0, GPU-aaaa, NVIDIA RTX PRO 6000 Blackwell, 97887, 4, 580.65.06, 12.0\n"
    "1, GPU-bbbb, NVIDIA RTX PRO 6000 Blackwell, 97887, 71200, 580.65.06, 12.0\n"
)


def gpu(index, uuid, used, processes=(), capability="12.0"):
    return {
        "index": index,
        "uuid": uuid,
        "name": "NVIDIA RTX PRO 6000 Blackwell",
        "memoryTotalMib": 97887,
        "memoryUsedMib": used,
        "computeCapability": capability,
        "driverVersion": "580.65.06",
        "processes": list(processes),
    }


class GpusTest(HostCase):
    def smi(self, table=TWO, apps="", where="nvidia-smi"):
        (self.home / "gpus.csv").write_text(table)
        (self.home / "apps.csv").write_text(apps)
        return self.program(where, SMI)

    def test_a_host_without_nvidia_smi_has_no_gpus_and_no_error(self):
        self.assertEqual(gpus.query(), (None, None))
        self.assertEqual(gpus.memory_used(), ({}, None))

    def test_gpus_come_with_their_processes(self):
        self.smi(apps="4711, GPU-bbbb, 71196\n4712, GPU-bbbb, [N/A]\n")
        seen = [{"pid": 4711, "usedMib": 71196}, {"pid": 4712, "usedMib": None}]
        self.assertEqual(gpus.query(), ([gpu(0, "GPU-aaaa", 4), gpu(1, "GPU-bbbb", 71200, seen)], None))
        self.assertEqual(gpus.memory_used(), ({"GPU-aaaa": 4, "GPU-bbbb": 71200}, None))

    def test_an_old_driver_is_asked_without_compute_capability(self):
        self.smi(TWO.replace(", 12.0", ""))
        os.environ["OLD_DRIVER"] = "1"
        found = [gpu(0, "GPU-aaaa", 4, capability=None), gpu(1, "GPU-bbbb", 71200, capability=None)]
        self.assertEqual(gpus.query(), (found, None))

    def test_memory_that_cannot_be_told_counts_as_none(self):
        self.smi("0, GPU-aaaa, NVIDIA GB10, [N/A], [N/A], 580.65.06, 12.1\n")
        found, _ = gpus.query()
        self.assertEqual((found[0]["memoryTotalMib"], found[0]["memoryUsedMib"]), (0, 0))

    def test_a_driver_that_does_not_answer_is_an_error_not_an_empty_host(self):
        said = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
        self.smi(said + "\n")
        os.environ["CODE"] = "9"
        self.assertEqual(gpus.query(), (None, said))

    def test_a_driver_that_hangs_in_the_kernel_is_left_to_its_fate(self):
        """Such a process does not heed SIGKILL; to the one who sends it that is a signal that does nothing."""
        self.program("nvidia-smi", "#!/bin/sh\nexec sleep 60\n")
        left = []
        patches = (
            mock.patch.object(gpus, "DEADLINE_SECONDS", 0.2),
            mock.patch.object(command, "_REAP_SECONDS", 0.2),
            mock.patch.object(command.os, "killpg", lambda pid, _number: left.append(pid)),
        )
        with patches[0], patches[1], patches[2], warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # that it is left running is the point
            found = gpus.query()
        for pid in left:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.assertEqual(found, (None, f"{self.bin}/nvidia-smi did not answer within 0 s"))

    def test_a_lost_gpu_is_told_beside_the_good_ones(self):
        said = "Unable to determine the device handle for GPU0000:41:00.0: GPU is lost. Reboot the system"
        self.smi(TWO.splitlines()[0] + "\n" + said + "\n")
        os.environ["CODE"] = "15"
        self.assertEqual(gpus.query(), ([gpu(0, "GPU-aaaa", 4)], said))

    def test_no_devices_is_an_empty_host(self):
        self.smi("No devices were found\n")
        self.assertEqual(gpus.query(), ([], "No devices were found"))

    def test_it_is_found_on_the_login_path_too(self):
        program = self.smi(where="login/nvidia-smi")
        self.assertEqual(gpus.query(), (None, None))
        from agent import executable

        executable._login_environment.cache_clear()
        (self.home / ".profile").write_text(f"PATH={program.parent}:$PATH\n")
        self.assertEqual(len(gpus.query()[0]), 2)

    def test_holders_are_named_and_reservations_are_of_living_servers(self):
        child = self.spawn(SUPERVISOR)
        ticks = identity(child.pid)["startTicks"]
        from agent.processes import boot_id

        run = {
            "bootId": boot_id(),
            "supervisor": identity(child.pid),
            "leader": None,
            "sessions": [],
            "generation": 1,
            "state": "restarting",
        }
        launch = {"listen": {"address": "127.0.0.1", "port": 1}, "gpuUuids": ["GPU-aaaa"]}
        self.record(OWNER["serverId"], owner=OWNER, run=run, launch=launch)
        dead = {**run, "supervisor": {"pid": child.pid, "startTicks": ticks + 1}}
        self.record("dead-11111111", run=dead, launch={**launch, "gpuUuids": ["GPU-bbbb"]})
        self.smi(apps="%d, GPU-bbbb, 71196\n999999999, GPU-bbbb, 4\n" % child.pid)
        found, error = gpu_seen.look(registry.load_all())
        self.assertIsNone(error)
        self.assertEqual([entry["reservedBy"] for entry in found], [OWNER["serverId"], None])
        mine, strange = found[1]["processes"]
        self.assertEqual((mine["pid"], mine["usedMib"], mine["serverId"]), (child.pid, 71196, None))
        self.assertTrue(mine["command"].endswith("sys.stdin.read()") and mine["user"])
        self.assertEqual((strange["user"], strange["command"], strange["serverId"]), (None, None, None))
