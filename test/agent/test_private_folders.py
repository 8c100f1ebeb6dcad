"""Other users of the host: folders they made, links they put in our way, modes that let them in."""

from __future__ import annotations

import os
import stat
import unittest
from pathlib import Path
from unittest import mock

from agent import detach, observe, paths, server_process, state_guard, temp_files
from agent.failure import AgentFailure
from test.agent.acting import ActingCase

NOBODY = 65534
is_root = unittest.skipUnless(os.getuid() == 0, "only root can act as another user")


def files_below(folder: Path) -> dict[str, int]:
    """Permission bits by path."""
    found = (Path(at) / name for at, folders, files in os.walk(folder) for name in folders + files)
    return {str(path.relative_to(folder)): stat.S_IMODE(path.lstat().st_mode) for path in found}


class StateRootTest(ActingCase):
    def refusal(self) -> AgentFailure:
        for act in (lambda: observe.run({"servers": []}), self.start_nothing):
            with self.assertRaises(AgentFailure) as caught:
                act()
            self.assertEqual("PERMISSION_DENIED", caught.exception.code)
        return caught.exception

    def start_nothing(self) -> None:
        self.apply({"kind": "confirm", "confirmed": True})

    def test_what_is_kept_is_for_its_owner_alone(self) -> None:
        self.start({"listen": 0})
        self.wait()
        modes = files_below(self.folder / ".local")
        self.assertEqual({0}, {mode & 0o077 for mode in modes.values()}, modes)
        self.assertEqual(0o600, modes[f"state/pulumi-vllm/{self.server_id}/secrets.json"])

    @is_root
    def test_a_root_of_another_user_is_not_believed(self) -> None:
        root = paths.state_root()
        root.mkdir(parents=True, mode=0o700)
        os.chown(root, NOBODY, NOBODY)
        self.assertRegex(
            self.refusal().summary,
            f"^Cannot trust the state folder {root}: it belongs to nobody, need a folder of root$",
        )
        self.assertEqual([], os.listdir(root))

    def test_a_root_that_others_may_write_in_is_not_believed(self) -> None:
        root = paths.state_root()
        root.mkdir(parents=True)
        root.chmod(0o775)
        refused = self.refusal()
        self.assertEqual(
            f"Cannot trust the state folder {root}: others may write in it (mode 0775), need mode 0700",
            refused.summary,
        )
        self.assertIn(f"chmod 700 {root}", str(refused.change))
        root.chmod(0o755)
        state_guard.demand_private()

    def test_a_home_that_is_not_there_is_not_one_without_servers(self) -> None:
        (self.folder / "file").write_text("")
        (self.folder / "link").symlink_to(self.folder / "not-mounted")
        cases = {
            "missing": "is not there",
            "file": "is no folder",
            "link": "is a link that leads nowhere",
            "file/below": "cannot be looked at (Not a directory)",
        }
        for name, found in cases.items():
            home = self.folder / name
            with self.subTest(name), mock.patch.dict(os.environ, {"HOME": str(home)}):
                self.assertEqual(
                    f"Cannot use the state folder {home}/.local/state/pulumi-vllm: {home} {found}, "
                    "need a folder of this account",
                    self.refusal().summary,
                )
        self.assertFalse((self.folder / "missing").exists())

    def test_a_link_above_the_root_that_leads_nowhere_is_not_one_without_servers(self) -> None:
        local = self.folder / ".local"
        local.symlink_to(self.folder / "not-mounted")
        with self.assertRaises(AgentFailure) as caught:
            state_guard.demand_private()
        self.assertIn(f"{local} is a link that leads nowhere", caught.exception.summary)
        local.unlink()

    def test_a_link_to_a_folder_of_ours_is_a_bigger_disk(self) -> None:
        elsewhere = self.folder / "big-disk"
        elsewhere.mkdir(mode=0o700)
        paths.state_root().parent.mkdir(parents=True)
        paths.state_root().symlink_to(elsewhere)
        self.start({})
        self.stop()
        self.assertEqual(["host.lock", self.server_id], sorted(os.listdir(elsewhere), key=len))


class TempFolderTest(ActingCase):
    def setUp(self) -> None:
        super().setUp()
        self.temp = self.folder / "in-tmp"
        self.precious = self.folder / "precious"
        self.precious.mkdir()
        (self.precious / "file").write_text("")

    def assert_refused(self) -> None:
        with self.assertRaises(AgentFailure) as caught:
            temp_files.prepare(self.temp)
        self.assertEqual("PERMISSION_DENIED", caught.exception.code)
        self.assertEqual(
            f"Cannot use {self.temp} for temporary files: it is not a folder of this user, need one that is",
            caught.exception.summary,
        )
        temp_files.empty(self.temp)
        temp_files.remove(self.temp)
        self.assertEqual(["file"], os.listdir(self.precious))
        self.assertTrue(os.path.lexists(self.temp))

    def test_a_link_is_refused_and_never_followed(self) -> None:
        self.temp.symlink_to(self.precious)
        self.assert_refused()

    def test_a_link_to_nowhere_or_a_file_is_refused(self) -> None:
        self.temp.symlink_to(self.folder / "nowhere")
        self.assert_refused()
        self.assertFalse((self.folder / "nowhere").exists())
        self.temp.unlink()
        self.temp.write_text("")
        self.assert_refused()

    @is_root
    def test_a_folder_of_another_user_is_refused(self) -> None:
        self.temp.mkdir()
        os.chown(self.temp, NOBODY, NOBODY)
        self.assert_refused()

    def test_an_open_folder_of_ours_is_closed(self) -> None:
        self.temp.mkdir()
        self.temp.chmod(0o777)
        temp_files.prepare(self.temp)
        self.assertEqual(0o700, stat.S_IMODE(self.temp.stat().st_mode))

    def test_its_name_cannot_be_shared_by_two_users_or_two_homes(self) -> None:
        self._set_environment("HOME", str(self.folder / ("deep" * 20)))
        one = paths.temp_folder(self.server_id)
        self._set_environment("HOME", str(self.folder / ("other" * 20)))
        self.assertNotEqual(one, paths.temp_folder(self.server_id))
        self.assertRegex(str(one), rf"^/tmp/pvllm-{os.getuid()}-[0-9a-f]{{8}}$")


class LinkedLogTest(ActingCase):
    def test_a_log_is_never_written_through_a_link(self) -> None:
        target = self.folder / "target"
        target.write_text("as it was")
        log = self.folder / "1.log"
        log.symlink_to(target)
        command = server_process.Command("/bin/echo", ("words",), {}, 0o022)
        with self.assertRaises(OSError):
            server_process.spawn(command, log, lambda _pid: None)

        def crash(_report: int) -> None:
            raise ValueError("lost")

        hear = detach.detach("crash", log, crash)
        self.assertEqual(b"", os.read(hear, 1))
        os.close(hear)
        self.assertEqual("as it was", target.read_text())


if __name__ == "__main__":
    unittest.main()
