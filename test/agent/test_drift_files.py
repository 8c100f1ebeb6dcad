"""What another hand changed in the files of a server that runs, and whether the running process has read it."""

import os

from agent import drift_config, drift_overlay, overlay, overlay_use, paths, processes, registry, sockets

from .bed import OWNER, SLEEPER, HostCase, identity
from .observing import ID, ObservedCase

CONFIG = "a: 1"
LONG_AGO = 1e9


class DriftOfConfigTest(ObservedCase):
    def setUp(self):
        super().setUp()
        self.server()
        self.file = self.record(ID, owner=OWNER, launch=self.launch(), run=self.run) / "serve.yaml"
        self.file.write_text(CONFIG)

    def seen(self):
        return self.observe()["server"]["differences"]["config"]

    def test_a_file_as_it_was_written_is_none(self):
        os.utime(self.file)
        self.assertIsNone(self.seen())

    def test_a_file_edited_since_the_start_has_not_been_read(self):
        self.file.write_text("a: 2")
        self.assertEqual(self.seen(), {"wanted": CONFIG, "found": "a: 2", "isRead": False})

    def test_a_file_edited_before_the_process_began_has_been_read(self):
        self.file.write_text("a: 2")
        os.utime(self.file, (LONG_AGO, LONG_AGO))
        self.assertEqual(self.seen(), {"wanted": CONFIG, "found": "a: 2", "isRead": True})

    def test_a_file_that_is_gone_or_no_text_is_told(self):
        self.file.write_bytes(b"\xff\xfe")
        self.assertIsNone(self.seen()["found"])
        self.file.unlink()
        self.assertEqual(self.seen(), {"wanted": CONFIG, "found": None, "isRead": False})

    def test_a_long_text_is_cut(self):
        self.file.write_text("x" * (1 << 20))
        self.assertEqual(len(self.seen()["found"]), drift_config._MOST_CHARACTERS)

    def test_of_a_server_that_does_not_run_nothing_is_told(self):
        self.file.write_text("a: 2")
        self.record(ID, run={**self.run, "leader": None})
        self.assertIsNone(self.seen())


class DriftOfOverlayTest(HostCase):
    def setUp(self):
        super().setUp()
        self.checkpoint = self.home / "checkpoint"
        self.checkpoint.mkdir()
        for name in ("config.json", "tokenizer.json", "weights"):
            (self.checkpoint / name).write_text(name)
        step = {
            "name": "0a1b",
            "checkpointPath": str(self.checkpoint),
            "files": {"config.json": "{}"},
            "record": {"checkpoint": str(self.checkpoint)},
        }
        overlay.build(ID, step)
        self.step = step
        self.folder = paths.overlays_folder() / "0a1b"
        self.leader = identity(self.spawn(SLEEPER).pid)

    def seen(self):
        run = {"bootId": processes.boot_id(), "leader": self.leader, "generation": 1, "exits": []}
        launch = {"modelPath": str(self.folder), "listen": {"address": "127.0.0.1", "port": 1}}
        self.record(ID, launch=launch, run=run)
        return [tuple(entry.values()) for entry in drift_overlay.look(registry.load(ID))]

    def test_an_overlay_as_it_was_made_is_none_also_when_the_checkpoint_got_more_files(self):
        (self.checkpoint / "README.md").write_text("new")
        self.assertEqual(self.seen(), [])

    def test_a_file_that_was_changed_is_told_and_whether_it_was_so_at_the_start(self):
        (self.folder / "config.json").write_text('{"a": 1}')
        self.assertEqual(self.seen(), [("config.json", "changed", False)])
        os.utime(self.folder / "config.json", (LONG_AGO, LONG_AGO))
        self.assertEqual(self.seen(), [("config.json", "changed", True)])

    def test_the_same_text_written_again_is_no_change(self):
        (self.folder / "config.json").write_text("{}")
        self.assertEqual(self.seen(), [])

    def test_links_that_lead_elsewhere_are_missing_or_were_added_are_told(self):
        (self.folder / "tokenizer.json").unlink()
        (self.folder / "weights").unlink()
        (self.folder / "weights").symlink_to("/etc/hostname")
        (self.folder / "more.py").write_text("")
        self.assertEqual(
            self.seen(),
            [
                ("more.py", "added", False),
                ("tokenizer.json", "missing", False),
                ("weights", "redirected", False),
            ],
        )

    def test_a_config_that_became_a_link_is_told(self):
        (self.folder / "config.json").unlink()
        (self.folder / "config.json").symlink_to(self.checkpoint / "config.json")
        self.assertEqual(self.seen(), [("config.json", "changed", False)])

    def test_it_is_put_back_by_the_step_that_made_it(self):
        (self.folder / "config.json").write_text("broken")
        self.assertTrue(overlay.build(ID, self.step)["built"])
        self.assertEqual(self.seen(), [])

    def test_an_overlay_of_an_earlier_version_says_nothing(self):
        overlay_use.record_path("0a1b").write_text('{"checkpoint": "/x"}')
        (self.folder / "config.json").write_text("broken")
        self.assertEqual(self.seen(), [])


class DriftOfListeningTest(ObservedCase):
    def listening(self, **listen):
        launch = self.launch()
        launch["listen"] = {**launch["listen"], **listen}
        self.record(ID, owner=OWNER, launch=launch, run=self.run)
        return self.observe()["server"]["differences"]["listening"]

    def test_where_it_was_told_to_is_none_however_the_address_is_written(self):
        self.server()
        for address in ("127.0.0.1", "localhost", "::ffff:127.0.0.1"):
            self.assertIsNone(self.listening(address=address), address)

    def test_another_port_or_address_is_told(self):
        self.server()
        place = {"address": "127.0.0.1", "port": self.port}
        self.assertEqual(self.listening(port=1), place)
        self.assertEqual(self.listening(address="0.0.0.0"), place)

    def test_a_server_that_does_not_listen_yet_listens_nowhere_else(self):
        child = self.server(listens=False)
        self.assertIsNone(self.listening(port=1))
        self.assertEqual(sockets.listening_of(child.pid), [])
