"""overlay.py: a folder of links beside the checkpoint, whole or not there; it is never touched itself."""

import os
import time
from pathlib import Path

from agent import overlay, overlay_use
from agent.failure import AgentFailure

from .bed import SLEEPER, HostCase

RECORD = {"config.json": [{"path": "a", "from": 1, "to": 2}]}


class OverlayTest(HostCase):
    def setUp(self):
        super().setUp()
        self.model = self.home / "model"
        (self.model / "sub").mkdir(parents=True)
        (self.model / "config.json").write_text('{"a": 1}')
        (self.model / "blob").write_bytes(b"weights")
        (self.model / "model.safetensors").symlink_to("blob")
        self.overlays = self.state / "overlays"

    def step(self, **changed):
        files = {"config.json": '{"a": 2}\r\n'}
        return {
            "kind": "overlay",
            "name": "0a1b2c",
            "checkpointPath": str(self.model),
            "files": files,
            "record": RECORD,
            **changed,
        }

    def build(self, server_id="chat-0a1b2c3d", **changed):
        return overlay.build(server_id, self.step(**changed))

    def content(self, folder):
        paths = (Path(entry.path) for entry in os.scandir(folder))
        return {
            path.name: os.readlink(path) if path.is_symlink() else path.read_bytes().decode()
            for path in paths
        }

    def test_everything_is_a_link_but_the_changed_files(self):
        before = {path.name: path.lstat() for path in self.model.iterdir()}
        built = self.build()
        self.assertEqual(built, {"path": str(self.overlays / "0a1b2c"), "built": True})
        self.assertEqual(
            self.content(built["path"]),
            {
                "config.json": '{"a": 2}\r\n',
                "sub": str(self.model / "sub"),
                "blob": str(self.model / "blob"),
                "model.safetensors": str(self.model / "model.safetensors"),
            },
        )
        self.assertEqual({path.name: path.lstat() for path in self.model.iterdir()}, before)
        self.assertEqual((self.model / "config.json").read_text(), '{"a": 1}')
        self.assertEqual(sorted(os.listdir(self.overlays)), [".lock", "0a1b2c", "0a1b2c.json"])

    def test_an_intact_one_is_used_as_it_is(self):
        first = os.stat(self.build()["path"]).st_ino
        again = self.build()
        self.assertEqual((again["built"], os.stat(again["path"]).st_ino), (False, first))

    def test_any_damage_makes_it_new(self):
        path = self.overlays / "0a1b2c"
        damages = {
            "text": lambda: (path / "config.json").write_text("{}"),
            "link": lambda: ((path / "blob").unlink(), (path / "blob").symlink_to("/nowhere")),
            "more": lambda: (path / "new").write_text(""),
            "less": lambda: (path / "sub").unlink(),
            "file is a link": lambda: (
                (path / "config.json").unlink(),
                (path / "config.json").symlink_to("blob"),
            ),
            "no folder": lambda: (path.rename(self.home / "away"), path.write_text("")),
        }
        self.build()
        wanted = self.content(path)
        for name, damage in damages.items():
            with self.subTest(damage=name):
                damage()
                self.assertEqual(self.build()["built"], True)
                self.assertEqual(self.content(path), wanted)
                self.assertEqual(sorted(os.listdir(self.overlays)), [".lock", "0a1b2c", "0a1b2c.json"])

    def test_a_changed_checkpoint_makes_it_new(self):
        self.build()
        (self.model / "added.json").write_text("")
        self.assertEqual(self.build()["built"], True)

    def test_a_reader_never_finds_it_missing_while_it_is_replaced(self):
        path = self.build()["path"]
        watcher = self.spawn(
            "import os, select, sys\nprint('up')\nlost = 0\n"
            "while not select.select([sys.stdin], [], [], 0)[0]:\n"
            f"    lost += not os.path.isdir({path!r})\nprint(lost)"
        )
        for _ in range(50):
            os.unlink(path + "/sub")
            self.build()
        watcher.stdin.write(b"\n")
        watcher.stdin.flush()
        self.assertEqual(watcher.stdout.readline(), b"0\n")

    def test_what_cut_attempts_left_goes_after_an_hour_unless_they_still_run(self):
        child = self.spawn(SLEEPER)
        gone = self.spawn(SLEEPER)
        gone.kill()
        gone.wait()
        for name, hours in (
            (".tmp-%d-aa" % gone.pid, 2),
            (".tmp-%d-bb" % gone.pid, 0),
            (".tmp-%d-cc" % child.pid, 2),
        ):
            (self.overlays / name).mkdir(parents=True)
            (self.overlays / name / "blob").symlink_to(self.model / "blob")
            os.utime(self.overlays / name, (time.time() - hours * 3600 - 60,) * 2)
        for name in (".0a1b2c.json.%d-aa" % gone.pid, "..lock.json.%d-bb" % child.pid):
            (self.overlays / name).write_text("{")
            os.utime(self.overlays / name, (time.time() - 7300,) * 2)
        self.build()
        records_left = [name for name in os.listdir(self.overlays) if ".json." in name]
        self.assertEqual(records_left, ["..lock.json.%d-bb" % child.pid])
        self.assertEqual(
            sorted(name for name in os.listdir(self.overlays) if name.startswith(".tmp")),
            sorted([".tmp-%d-bb" % gone.pid, ".tmp-%d-cc" % child.pid]),
        )
        self.assertTrue((self.model / "blob").exists())

    def test_names_cannot_lead_out_of_the_folder(self):
        for changed in (
            {"name": "../x"},
            {"name": ".tmp-1-a"},
            {"files": {"../config.json": ""}},
            {"files": {"": ""}},
        ):
            with self.subTest(**changed), self.assertRaises(AgentFailure) as caught:
                self.build(**changed)
            self.assertEqual(caught.exception.code, "AGENT_CRASHED")

    def test_a_missing_checkpoint_is_named(self):
        with self.assertRaises(AgentFailure) as caught:
            self.build(checkpointPath="~/none")
        self.assertEqual(
            (caught.exception.code, caught.exception.summary),
            (
                "CHECKPOINT_NOT_FOUND",
                f"Cannot build an overlay of {self.home}/none: No such file or directory, "
                "need a folder that can be read",
            ),
        )

    def test_only_what_no_other_server_uses_is_dropped(self):
        self.build("one-11111111", name="aa")
        self.build("one-11111111", name="bb")
        self.build("two-22222222", name="bb")
        self.build("one-11111111", name="cc")
        listen = {"address": "127.0.0.1", "port": 1}
        launch = {"listen": listen, "modelPath": str(self.overlays / "cc")}
        self.record("one-11111111", owner={}, launch=launch)
        self.record("two-22222222", owner={})
        self.assertEqual(overlay_use.drop("one-11111111", keep=True), ["aa"])
        self.assertEqual(overlay_use.drop("one-11111111", keep=False), ["cc"])
        self.assertEqual(overlay_use.drop("two-22222222", keep=False), ["bb"])
        self.assertEqual(os.listdir(self.overlays), [".lock"])
        self.assertEqual(sorted(os.listdir(self.model)), ["blob", "config.json", "model.safetensors", "sub"])
