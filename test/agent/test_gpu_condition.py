"""gpu_condition.py: modes and faults as drivers of all ages tell them, and what they do not tell."""

import json

from agent import gpu_bus, gpu_condition, gpus

from .bed import HostCase

# Answers by field from a row a GPU; a field that is no key of it is refused the way the real one does.
SMI = """#!/usr/bin/env python3
import json, os, sys
table, fields = sys.argv[1].split("=", 1)
with open(os.path.join(os.environ["HOME"], "calls"), "a") as file:
    file.write(table + "\\n")
with open(os.path.join(os.environ["HOME"], table + ".json")) as file:
    rows = json.load(file)
for field in fields.split(","):
    if rows and field not in rows[0]:
        print('Field "%s" is not a valid field to query.\\n' % field)
        sys.exit(2)
for row in rows:
    print(", ".join(row[field] for field in fields.split(",")))
"""
ROW = {
    "index": "0",
    "uuid": "GPU-aaaa",
    "name": "NVIDIA H100",
    "memory.total": "81559",
    "memory.used": "4",
    "driver_version": "580.65.06",
    "compute_cap": "9.0",
    "pci.bus_id": "00000000:41:00.0",
    "persistence_mode": "Enabled",
    "compute_mode": "Default",
    "mig.mode.current": "Disabled",
    "ecc.errors.uncorrected.volatile.total": "0",
    "retired_pages.pending": "[N/A]",
}
REMAPPED = {"gpu_uuid": "GPU-aaaa", "remapped_rows.pending": "0", "remapped_rows.failure": "0"}
SOUND = {
    "pciBusId": "0000:41:00",
    "isPersistent": True,
    "computeMode": "Default",
    "isMig": False,
    "uncorrectedErrors": 0,
    "isRepairPending": False,
    "hasRepairFailed": False,
}


class GpuConditionTest(HostCase):
    def smi(self, row, remapped=REMAPPED):
        self.program("nvidia-smi", SMI)
        (self.home / "--query-gpu.json").write_text(json.dumps([row]))
        (self.home / "--query-remapped-rows.json").write_text(json.dumps([remapped]))
        (self.home / "--query-compute-apps.json").write_text("[]")

    def calls(self):
        return (self.home / "calls").read_text().split()

    def condition(self, remapped=REMAPPED, **fields):
        self.smi({**ROW, **{name.replace("__", "."): value for name, value in fields.items()}}, remapped)
        found, error = gpus.query(with_condition=True)
        self.assertIsNone(error)
        return found[0]["condition"]

    def test_a_sound_gpu(self):
        self.assertEqual(self.condition(), SOUND)

    def test_each_fault_and_mode(self):
        self.assertEqual(
            self.condition(
                {**REMAPPED, "remapped_rows.pending": "1", "remapped_rows.failure": "Yes"},
                persistence_mode="Disabled",
                compute_mode="Exclusive_Process",
                mig__mode__current="Enabled",
                ecc__errors__uncorrected__volatile__total="3",
            ),
            {
                "pciBusId": "0000:41:00",
                "isPersistent": False,
                "computeMode": "Exclusive_Process",
                "isMig": True,
                "uncorrectedErrors": 3,
                "isRepairPending": True,
                "hasRepairFailed": True,
            },
        )

    def test_pages_that_wait_to_be_retired_are_a_repair_too(self):
        row = {**ROW, "retired_pages.pending": "Yes"}
        self.assertTrue(gpu_condition.read(row, None)["isRepairPending"])
        self.assertFalse(gpu_condition.read({**row, "retired_pages.pending": "No"}, None)["isRepairPending"])

    def test_what_a_gpu_does_not_have_is_not_known(self):
        nothing = {name: "[N/A]" for name in ROW if name in gpu_condition.FIELDS}
        self.assertEqual(gpu_condition.read(nothing, None), dict.fromkeys(SOUND))

    def test_fields_that_a_driver_is_too_old_for_lose_no_other(self):
        old = {name: text for name, text in ROW.items() if name not in ("mig.mode.current", "compute_cap")}
        self.smi(old, {"gpu_uuid": "GPU-aaaa"})
        found, error = gpus.query(with_condition=True)
        self.assertIsNone(error)
        self.assertIsNone(found[0]["computeCapability"])
        unknown = {"isMig": None, "isRepairPending": None, "hasRepairFailed": None}
        self.assertEqual(found[0]["condition"], {**SOUND, **unknown})

    def test_a_refresh_asks_for_none_of_it(self):
        self.smi(ROW)
        found, _ = gpus.query()
        self.assertNotIn("condition", found[0])
        self.assertEqual(self.calls(), ["--query-gpu", "--query-compute-apps"])

    def test_the_driver_and_the_kernel_write_one_place(self):
        for address in ("00000000:41:00.0", "0000:41:00", "0000:41:00.0"):
            self.assertEqual(gpu_bus.normal(address), "0000:41:00")
        self.assertEqual(gpu_bus.normal("00010000:C1:00.0"), "0000:c1:00")
