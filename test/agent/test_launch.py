"""launch.sh: a fitting Python is found whatever the login shell, and what is wrong is said in one event."""

import shutil

from . import AGENT_FOLDER
from .bed import HostCase, launch_text, run_agent

OBSERVE = {"op": "observe", "protocol": 1, "deadlineSeconds": 30, "servers": []}
NEED = "need Python 3.9 or newer with its standard library"


class LaunchTest(HostCase):
    def error_of(self, **options):
        code, events, stderr = run_agent(OBSERVE, **options)
        self.assertEqual((code, len(events), stderr), (3, 1, ""))
        self.assertEqual(events[0]["event"], "error")
        return events[0]["error"]

    def test_every_login_shell_starts_it(self):
        for name in ("sh", "dash", "bash", "zsh", "fish", "csh", "tcsh", "ksh", "busybox"):
            shell = shutil.which(name)
            if shell is None or name == "busybox":
                continue
            with self.subTest(shell=name):
                code, events, stderr = run_agent(OBSERVE, shell=shell)
                self.assertEqual((code, stderr), (0, ""))
                self.assertEqual([event["event"] for event in events], ["hello", "result"])

    def test_it_can_stand_in_single_quotes_of_any_shell(self):
        text = launch_text()
        for forbidden in ("'", "!", "\\\\", "\n"):
            self.assertNotIn(forbidden, text)

    def test_it_also_runs_with_its_comments_and_line_breaks(self):
        code, events, _ = run_agent(OBSERVE, text=(AGENT_FOLDER / "launch.sh").read_text())
        self.assertEqual((code, events[-1]["event"]), (0, "result"))

    def test_a_given_python_is_taken_and_nothing_else(self):
        real = shutil.which("python3", path="/usr/bin:/usr/local/bin")
        (self.home / "my python").mkdir()
        given = self.home / "my python" / "python3"
        given.symlink_to(real)
        self.assertEqual(run_agent(OBSERVE, python=str(given))[0], 0)
        self.assertEqual(run_agent(OBSERVE, python="~/my python/python3")[0], 0)
        self.assertEqual(
            self.error_of(python="/nowhere/python3"),
            {
                "code": "PYTHON_MISSING",
                "summary": "Cannot run the agent: /nowhere/python3 is not an executable file, " + NEED,
                "change": "correct host.python",
                "retryable": False,
            },
        )

    def test_an_old_python_is_named_with_its_version(self):
        old = self.program("old3", "#!/bin/sh\necho Python 3.6.8\n")
        self.assertEqual(
            self.error_of(python=str(old)),
            {
                "code": "PYTHON_TOO_OLD",
                "summary": f"Cannot run the agent: {old} is Python 3.6.8, {NEED}",
                "change": "correct host.python",
                "retryable": False,
            },
        )

    def test_a_python_without_json_is_told_apart_from_an_old_one(self):
        bare = self.program("bare3", '#!/bin/sh\n[ "$1" = -V ] && echo Python 3.11.2 && exit 0\nexit 1\n')
        self.assertEqual(
            self.error_of(python=str(bare))["summary"],
            f"Cannot run the agent: {bare} is Python 3.11.2 without its standard library, {NEED}",
        )

    def test_a_broken_answer_cannot_break_the_event(self):
        odd = self.program("odd3", "#!/bin/sh\nprintf 'a\"b\\\\c\\nd'\n")
        error = self.error_of(python=str(odd))
        self.assertEqual((error["code"], "no working Python" in error["summary"]), ("PYTHON_MISSING", True))

    def test_the_search_goes_on_behind_an_old_python(self):
        # As on a host whose /usr/bin/python3 is too old: the same text with that place replaced.
        old = self.program("system/python3", "#!/bin/sh\necho Python 3.6.8\n")
        self.program("python3", "#!/bin/sh\necho Python 3.8.1\n")
        (self.bin / "python3.11").symlink_to(shutil.which("python3", path="/usr/bin:/usr/local/bin"))
        text = launch_text().replace("/usr/bin/python3", str(old))
        self.assertEqual(run_agent(OBSERVE, text=text)[0], 0)

    def test_without_any_python_every_old_one_is_named(self):
        old = self.program("system/python3", "#!/bin/sh\necho Python 3.6.8\n")
        mine = self.program("python3", "#!/bin/sh\necho Python 3.8.1\n")
        text = launch_text().replace("/usr/bin/python3", str(old))
        text = text.replace("$PATH /usr/local/bin /bin", str(self.bin))
        error = self.error_of(text=text)
        self.assertEqual(error["code"], "PYTHON_TOO_OLD")
        told = f"Cannot run the agent: {old} is Python 3.6.8; {mine} is Python 3.8.1, {NEED}"
        self.assertEqual(error["summary"], told)
