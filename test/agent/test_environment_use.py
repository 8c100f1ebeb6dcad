"""environment_use.py: environments stay as long as somebody needs them, and no longer."""

from __future__ import annotations

from agent import environment_use, environments, job_use, processes, records, state_folder

from .bed import identity
from .installing import InstallCase

A, B = "00000000000000aa", "00000000000000bb"


class EnvironmentUseTest(InstallCase):
    def test_the_old_one_goes_once_the_server_runs_from_the_new_one(self):
        old, new = self.wish("0.31.0", A), self.wish("0.32.0", B)
        self.install(old)
        self.assertEqual(self.runs("chat-0a1b2c3d", old), [])
        self.install(new)
        self.assertEqual(environments.names(), [A, B])
        self.assertEqual(self.runs("chat-0a1b2c3d", new), [A])
        self.assertEqual(environments.names(), [B])

    def test_until_the_new_one_runs_there_is_a_way_back(self):
        old, new = self.wish("0.31.0", A), self.wish("0.32.0", B)
        self.install(old)
        self.runs("chat-0a1b2c3d", old)
        self.install(new)
        self.assertFalse(self.install(old)["built"])
        self.assertEqual(self.runs("chat-0a1b2c3d", old), [B])

    def test_what_another_server_needs_stays(self):
        self.server("other-0a1b2c3d")
        old, new = self.wish("0.31.0", A), self.wish("0.32.0", B)
        self.install(old)
        self.runs("chat-0a1b2c3d", old)
        self.assertFalse(self.install(old, "other-0a1b2c3d")["built"])
        self.install(new)
        self.assertEqual(self.runs("chat-0a1b2c3d", new), [])
        self.runs("other-0a1b2c3d", old)
        self.forget("other-0a1b2c3d")
        self.assertEqual(environments.names(), [B])
        self.forget("chat-0a1b2c3d")
        self.assertEqual(environments.names(), [])

    def test_with_the_last_server_everything_goes(self):
        self.install()
        self.forget("chat-0a1b2c3d")
        left = {str(path.relative_to(self.state)) for path in self.state.rglob("*") if path.is_file()}
        self.assertEqual({path for path in left if not path.endswith(".lock")}, set())

    def test_one_that_is_being_built_stays(self):
        environments.path(A).mkdir(parents=True)
        child = self.spawn("import sys; print('up'); sys.stdin.read()")
        folder = job_use.folder("install-" + A)
        record = {"id": "0a1b2c3d4e5f6071", **identity(child.pid), "bootId": processes.boot_id()}
        records.write_json(folder / "job.json", record)
        self.assertEqual(environment_use.drop_earlier("chat-0a1b2c3d"), [])
        child.kill()
        child.wait()
        self.assertEqual(environment_use.drop_earlier("chat-0a1b2c3d"), [A])

    def test_a_removal_that_was_cut_off_is_finished(self):
        aside = environments.folder() / f".removed-{A}-0123abcd"
        (aside / "bin").mkdir(parents=True)
        environment_use.drop_earlier("chat-0a1b2c3d")
        self.assertFalse(aside.exists())

    def test_a_resource_that_is_created_once_more_keeps_what_was_built(self):
        self.install()
        self.server("chat-ffffffff")
        environment_use.hand_over("chat-0a1b2c3d", "chat-ffffffff")
        state_folder.remove("chat-0a1b2c3d")
        self.assertEqual(environment_use.drop_all("other-0a1b2c3d"), [])
        self.assertFalse(self.install(server_id="chat-ffffffff")["built"])

    def forget(self, server_id):
        environment_use.drop_all(server_id)
        state_folder.remove(server_id)
