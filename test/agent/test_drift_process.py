"""The running process against the one that was proven ready: command line and environment, values only by hash."""

import json

from agent import drift_process, processes, registry

from .bed import OWNER, SLEEPER, HostCase, identity

ID = OWNER["serverId"]
LAUNCH = {
    "generation": 1,
    "listen": {"address": "127.0.0.1", "port": 1},
    "environment": {"DECLARED": "1", "TZ": "UTC"},
}
FIRST = {"DECLARED": "1", "TZ": "UTC", "SECRET": "sesame"}


class DriftOfProcessTest(HostCase):
    def setUp(self):
        super().setUp()
        self.run = {"bootId": processes.boot_id(), "generation": 0, "exits": [], "leader": None}

    def start(self, *arguments, **environment):
        """Another leader; the first one is the start that was asked for, and was proven."""
        is_first = self.run["leader"] is None
        child = self.spawn(SLEEPER, *arguments, **environment)
        self.run.update(leader=identity(child.pid), generation=self.run["generation"] + 1)
        folder = self.record(ID, owner=OWNER, launch=LAUNCH, run=self.run, secrets={"SECRET": "sesame"})
        if is_first:
            drift_process.note(ID, self.run, LAUNCH)
        return folder

    def arguments(self):
        return drift_process.arguments(registry.load(ID))

    def variables(self):
        return [(one["name"], one["kind"]) for one in drift_process.variables(registry.load(ID))]

    def test_the_proven_process_itself_and_one_like_it_are_as_they_should_be(self):
        for _ in range(2):
            self.start("serve", **FIRST)
            self.assertEqual((self.arguments(), self.variables()), (None, []))

    def test_words_that_came_or_went_are_told(self):
        self.start("serve", "/models/a", **FIRST)
        self.start("serve", "/models/b", "--max-model-len", "64", **FIRST)
        self.assertEqual(
            self.arguments(), {"added": ["/models/b", "--max-model-len", "64"], "missing": ["/models/a"]}
        )

    def test_variables_that_changed_came_or_went_are_told_by_name_and_hash(self):
        self.start("serve", **FIRST)
        folder = self.start("serve", TZ="UTC", SECRET="other", VLLM_X="1")
        told = drift_process.variables(registry.load(ID))
        self.assertEqual(
            [(one["name"], one["kind"]) for one in told],
            [("DECLARED", "missing"), ("SECRET", "changed"), ("VLLM_X", "added")],
        )
        self.assertEqual([one["hash"] is None for one in told], [True, False, False])
        text = json.dumps(told) + (folder / "proven.json").read_text()
        self.assertFalse([value for value in ("sesame", "other") if value in text])
        self.assertEqual((folder / "proven.json").stat().st_mode & 0o777, 0o600)

    def test_what_a_login_sets_counts_only_where_it_is_declared(self):
        self.start("serve", **FIRST)
        self.start("serve", **{**FIRST, "LANG": "C", "TZ": "CET"})
        self.assertEqual(self.variables(), [("TZ", "changed")])

    def test_what_is_new_with_each_start_does_not_count(self):
        self.start("serve", **FIRST, INVOCATION_ID="1")
        self.start("serve", **FIRST, INVOCATION_ID="2", SYSTEMD_EXEC_PID="3", SHLVL="1")
        self.assertEqual(self.variables(), [])

    def test_an_automatic_restart_is_no_new_proof(self):
        self.start("serve", **FIRST)
        self.start("serve", "--enforce-eager", **FIRST)
        drift_process.note(ID, self.run, LAUNCH)
        self.assertEqual(self.arguments(), {"added": ["--enforce-eager"], "missing": []})

    def test_a_proof_of_an_earlier_launch_or_a_damaged_one_says_nothing(self):
        self.start("serve", **FIRST)
        self.start("serve", "--enforce-eager")
        self.record(ID, launch={**LAUNCH, "generation": 2})
        self.assertEqual((self.arguments(), self.variables()), (None, []))
        for damaged in ([], {"pid": "x"}, {"generation": 1}):
            self.record(ID, launch=LAUNCH, proven=damaged)
            self.assertEqual((self.arguments(), self.variables()), (None, []))

    def test_a_key_on_the_command_line_is_neither_kept_nor_told(self):
        words = ["--api-key", "sesame", "--hf-token=sesame", "--port", "1"]
        self.assertEqual(
            drift_process.without_keys(words), ["--api-key", "***", "--hf-token=***", "--port", "1"]
        )
        self.start("serve", **FIRST)
        folder = self.start("serve", *words)
        self.assertNotIn("sesame", json.dumps(self.arguments()) + (folder / "proven.json").read_text())
