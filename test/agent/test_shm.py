from __future__ import annotations

import mmap
import os
import secrets
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent import paths, shm
from test.agent.acting import free_port, kill
from test.agent.strangers import StrangersCase
from test.agent.test_identity import NOBODY
from test.agent.test_unkillable import HEADLESS, SYS_EXIT

OPEN = "kept = open({path!r})"
# Not with mmap.mmap, which keeps the file open as well.
MAPPED = """
import ctypes, os
mmap = ctypes.CDLL(None).mmap
mmap.restype = ctypes.c_void_p
descriptor = os.open({path!r}, os.O_RDWR)
assert mmap(None, ctypes.c_size_t(4096), 1, 1, descriptor, ctypes.c_long(0)) != 2**64 - 1
os.close(descriptor)
"""


class RemovalTest(StrangersCase):
    """Of what is recorded as the server's, only what nobody has any more is taken away."""

    def setUp(self) -> None:
        super().setUp()
        self.path = Path(f"/dev/shm/{self.shm}")
        self.path.write_bytes(b"x" * 4096)

    def recorded(self, **changes: object) -> None:
        self.record(999_999, 1, supervisor=None, leader=None, sessions=[], shm=[self.shm], **changes)

    def test_what_nobody_has_any_more_goes(self) -> None:
        self.recorded()
        self.assertEqual([self.shm], self.stop()["removedShm"])

    def test_what_another_process_only_has_open_or_only_maps_stays(self) -> None:
        for code in (OPEN, MAPPED):
            holder = self.stranger(code.format(path=str(self.path)))
            self.recorded()
            self.assertEqual([], self.stop()["removedShm"])
            self.assertTrue(self.path.exists())
            kill((holder.pid, holder.start_ticks))
        self.recorded()
        self.assertEqual([self.shm], self.stop()["removedShm"])

    @unittest.skipUnless(os.uname().machine in SYS_EXIT, "the number of exit is not known here")
    def test_what_a_process_maps_whose_first_thread_has_ended_stays(self) -> None:
        """It looks like a zombie, and /proc shows its files at its threads alone."""
        code = MAPPED.format(path=str(self.path)) + HEADLESS % SYS_EXIT[os.uname().machine]
        holder = self.stranger(code)
        self.until(lambda: Path(f"/proc/{holder.pid}/maps").read_text() == "")
        self.recorded()
        self.assertEqual([], self.stop()["removedShm"])

    @unittest.skipUnless(os.getuid() == 0, "needs a second user")
    def test_what_another_user_owns_stays(self) -> None:
        os.chown(self.path, NOBODY, NOBODY)
        self.recorded()
        self.assertEqual([], self.stop()["removedShm"])
        self.assertTrue(self.path.exists())

    def test_a_name_that_was_used_again_means_another_file(self) -> None:
        inode = self.path.stat().st_ino
        self.recorded(shmInodes={self.shm: inode})
        again = Path(f"/dev/shm/{self.shm}.new")
        again.write_bytes(b"another's")
        again.rename(self.path)
        self.assertEqual([], self.stop()["removedShm"])
        self.assertEqual(b"another's", self.path.read_bytes())
        self.recorded(shmInodes={self.shm: self.path.stat().st_ino})
        self.assertEqual([self.shm], self.stop()["removedShm"])

    def test_a_link_a_folder_and_a_name_that_leads_elsewhere_are_nobodys(self) -> None:
        precious = self.folder / "precious"
        precious.write_text("kept")
        self.path.unlink()
        self.path.symlink_to(precious)
        names = [self.shm, f"../..{precious}", "..", ""]
        self.record(999_999, 1, supervisor=None, leader=None, sessions=[], shm=names)
        self.assertEqual([], self.stop()["removedShm"])
        self.assertEqual((True, "kept"), (self.path.is_symlink(), precious.read_text()))


class TwoServersTest(StrangersCase):
    @contextmanager
    def other(self) -> Iterator[None]:
        """A second server of the same user, in the names of which the block acts."""
        mine = (self.server_id, self.shm, self.port)
        self.server_id, self.shm, self.port = self.others
        try:
            yield
        finally:
            self.server_id, self.shm, self.port = mine

    def setUp(self) -> None:
        super().setUp()
        self.others = (f"other-{secrets.token_hex(4)}", f"psm_{secrets.token_hex(4)}", free_port())
        self.addCleanup(self._end_other)

    def _end_other(self) -> None:
        with self.other():
            self._end_everything()

    def start_one(self, **engine: bool) -> None:
        self.start({"engine": {"shm": self.shm, **engine}})
        self.until(lambda: self.run_json()["shm"] == [self.shm])

    def test_one_is_stopped_by_force_and_the_other_keeps_all_it_has(self) -> None:
        self.start_one(ignores_term=True)
        with self.other():
            self.start_one()
            before = [member.pid for member in self.members()]
            (paths.temp_folder(self.server_id) / "socket").write_text("")
        foreign = Path(f"/dev/shm/{self.shm}x")
        self.addCleanup(lambda: foreign.unlink(missing_ok=True))
        # Another tool's: of this user, made while ours ran, and held open by nobody right now.
        foreign.write_bytes(b"x")
        self.assertEqual([self.shm], self.stop()["removedShm"])
        self.assert_nothing_left()
        self.assertTrue(foreign.exists())
        with self.other():
            self.assertEqual(before, [member.pid for member in self.members()])
            self.assertTrue(os.path.exists(f"/dev/shm/{self.shm}"))
            self.assertEqual(["socket"], os.listdir(paths.temp_folder(self.server_id)))
            self.assertEqual([self.shm], self.stop()["removedShm"])
            self.assert_nothing_left()

    def test_a_segment_that_both_use_stays_until_the_last_one_ends(self) -> None:
        """As two servers that share a cache; the second opened it when the first had made it."""
        self.start_one(ignores_term=True)
        holder = self.stranger(OPEN.format(path=f"/dev/shm/{self.shm}"))
        self.assertEqual([], self.stop()["removedShm"])
        self.assertEqual([], self.members())
        kill((holder.pid, holder.start_ticks))

    def test_a_name_that_was_given_to_another_file_while_ours_ran_is_not_taken_away(self) -> None:
        self.start_one(ignores_term=True)
        path, again = Path(f"/dev/shm/{self.shm}"), Path(f"/dev/shm/{self.shm}.new")
        again.write_bytes(b"another's")
        again.rename(path)
        self.assertEqual([], self.stop()["removedShm"])
        self.assertEqual(b"another's", path.read_bytes())

    def test_what_is_only_open_is_recorded_too(self) -> None:
        path = Path(f"/dev/shm/{self.shm}")
        with path.open("w+b"):
            self.assertEqual({self.shm}, shm.names_new_to([os.getpid()], frozenset()))


class TempFolderTest(StrangersCase):
    def test_what_a_living_process_has_open_in_it_stays_and_the_rest_goes(self) -> None:
        self.start({})
        temp = paths.temp_folder(self.server_id)
        (temp / "below").mkdir()
        for name in ("left", "below/held", "mapped"):
            (temp / name).write_bytes(b"x" * 4096)
        held = OPEN.format(path=str(temp / "below" / "held")).replace("kept", "held")
        code = f"{held}\n{MAPPED.format(path=str(temp / 'mapped'))}"
        holder = self.stranger(code)
        self.stop()
        self.assertEqual(["below", "mapped"], sorted(os.listdir(temp)))
        kill((holder.pid, holder.start_ticks))
        self.stop()
        self.assert_nothing_left()

    def test_a_link_in_it_is_removed_and_not_followed(self) -> None:
        precious = self.folder / "precious"
        precious.mkdir()
        (precious / "file").write_text("")
        self.start({})
        (paths.temp_folder(self.server_id) / "link").symlink_to(precious)
        self.stop()
        self.assert_nothing_left()
        self.assertEqual(["file"], os.listdir(precious))


class LookTest(StrangersCase):
    def test_what_lay_there_before_is_nobodys_whatever_the_clock_and_its_mode_say(self) -> None:
        path = Path(f"/dev/shm/{self.shm}")
        path.write_bytes(b"x" * 4096)
        before = shm.present()
        path.chmod(0o640)
        with path.open("r+b") as file, mmap.mmap(file.fileno(), 4096):
            self.assertEqual(set(), shm.names_new_to([os.getpid()], before))
            self.assertEqual({self.shm}, shm.names_new_to([os.getpid()], frozenset()))
            # The same name for another file is another thing.
            self.assertEqual({self.shm}, shm.names_new_to([os.getpid()], frozenset({(self.shm, 1)})))

    def test_names_that_look_like_line_ends_do_not_disturb_the_search(self) -> None:
        folder = self.folder / "odd\x0b" / "dev" / "shm"
        folder.mkdir(parents=True)
        odd = folder / "psm_odd"
        odd.write_bytes(b"x" * 4096)
        with odd.open("r+b") as file, mmap.mmap(file.fileno(), 4096):
            self.assertEqual(set(), shm.names_new_to([os.getpid()], frozenset()))
            self.assertEqual([], shm.remove_unused([]))

    def test_a_file_that_was_there_before_the_server_is_never_taken_for_its_own(self) -> None:
        path = Path(f"/dev/shm/{self.shm}")
        path.write_bytes(b"x" * 4096)
        with path.open("r+b") as file, mmap.mmap(file.fileno(), 4096):
            self.assertEqual({self.shm}, shm.names_made_by([os.getpid()], path.stat().st_ctime))
            self.assertEqual(set(), shm.names_made_by([os.getpid()], path.stat().st_ctime + 60))


if __name__ == "__main__":
    unittest.main()
