"""observe: what only a start needs to know is looked at for a start alone, and its failure loses nothing else."""

from agent import observe

from .bed import HostCase

GPU = "0, GPU-aaaa, NVIDIA H100, 81559, 4, 580.65.06, 9.0"
SMI = f"""#!/bin/sh
echo "$1" >> "$HOME/calls"
case "$1" in
  *pci.bus_id*) echo "{GPU}, 00000000:41:00.0, Disabled, Default, Disabled, 0, [N/A]" ;;
  --query-gpu=*) echo "{GPU}" ;;
  --query-remapped-rows=*) echo "GPU-aaaa, 0, 0" ;;
esac
"""
XID = "NVRM: Xid (PCI:0000:41:00): 79, pid=4711, name=python3, GPU has fallen off the bus."


class ObserveForStartTest(HostCase):
    def setUp(self):
        super().setUp()
        self.program("nvidia-smi", SMI)
        self.program("dmesg", f'#!/bin/sh\necho dmesg >> "$HOME/calls"\necho "{XID}"\n')

    def calls(self):
        return [line.split("=")[0] for line in (self.home / "calls").read_text().splitlines()]

    def test_a_start_hears_of_conditions_and_faults(self):
        seen = observe.run({"servers": [], "forStart": True})
        self.assertEqual(
            seen["gpus"][0]["condition"],
            {
                "pciBusId": "0000:41:00",
                "isPersistent": False,
                "computeMode": "Default",
                "isMig": False,
                "uncorrectedErrors": 0,
                "isRepairPending": False,
                "hasRepairFailed": False,
            },
        )
        self.assertEqual(seen["host"]["xids"], [{"pciBusId": "0000:41:00", "xid": 79, "line": XID}])
        self.assertEqual(
            sorted(self.calls()), ["--query-compute-apps", "--query-gpu", "--query-remapped-rows", "dmesg"]
        )

    def test_nobody_else_pays_for_it(self):
        seen = observe.run({"servers": []})
        self.assertNotIn("condition", seen["gpus"][0])
        self.assertIsNone(seen["host"]["xids"])
        self.assertEqual(self.calls(), ["--query-gpu", "--query-compute-apps"])

    def test_a_host_that_tells_none_of_it_is_observed_all_the_same(self):
        self.program("nvidia-smi", SMI.replace("--query-remapped-rows=*)", "none)"))
        self.program("dmesg", "#!/bin/sh\nexit 1\n")
        self.program("journalctl", "#!/bin/sh\nexit 1\n")
        seen = observe.run({"servers": [], "forStart": True})
        self.assertIsNone(seen["host"]["xids"])
        self.assertIsNone(seen["gpus"][0]["condition"]["hasRepairFailed"])
        self.assertFalse(seen["gpus"][0]["condition"]["isPersistent"])
