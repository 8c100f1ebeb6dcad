"""executable.py: the vllm of a login, and its version without running it."""

import os

from agent import executable

from .bed import HostCase


class ExecutableTest(HostCase):
    def environment_with(self, name, version, interpreter=None, package="vllm"):
        prefix = self.home / name
        script = self.program(
            str(prefix / "bin" / "vllm"),
            "#!%s\nraise SystemExit(9)\n" % (interpreter or prefix / "bin/python3"),
        )
        info = prefix / "lib" / "python3.12" / "site-packages" / (f"{package}-{version}.dist-info")
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {package}\nVersion: {version}\n")
        return script

    def test_the_version_is_read_from_the_environment_of_the_script(self):
        script = self.environment_with("venv", "0.32.0+cpu")
        self.assertEqual(
            executable.find(str(script)), {"found": True, "path": str(script), "version": "0.32.0+cpu"}
        )

    def test_a_link_and_a_home_relative_path_lead_to_the_same_version(self):
        script = self.environment_with("tool", "0.16.0rc2")
        (self.bin / "vllm").symlink_to(script)
        self.assertEqual(executable.version_of(str(self.bin / "vllm")), "0.16.0rc2")
        found = executable.find("~/bin/vllm")
        self.assertEqual(found, {"found": True, "path": str(self.bin / "vllm"), "version": "0.16.0rc2"})

    def test_the_second_line_of_a_long_shebang_is_understood(self):
        real = self.environment_with("a very long place", "0.31.1")
        text = "#!/bin/sh\n'''exec' \"%s\" \"$0\" \"$@\"\n' '''\n" % (real.parent / "python3")
        self.assertEqual(executable.version_of(str(self.program("vllm", text))), "0.31.1")

    def test_usr_bin_env_is_looked_up_on_the_login_path(self):
        self.environment_with("conda", "0.30.0")
        self.program(str(self.home / "conda" / "bin" / "python3"), "")
        (self.home / ".profile").write_text(f"PATH={self.home}/conda/bin:$PATH\n")
        self.assertEqual(
            executable.version_of(str(self.program("vllm", "#!/usr/bin/env python3\n"))), "0.30.0"
        )

    def test_packages_of_a_similar_name_are_not_vllm(self):
        script = self.environment_with("venv", "2.7.0", package="vllm_flash_attn")
        self.assertIsNone(executable.version_of(str(script)))

    def test_a_wrapper_is_asked(self):
        script = self.program("vllm", "#!/bin/sh\necho INFO starting up\necho 0.32.0\necho bye\n")
        self.assertEqual(executable.version_of(str(script)), "0.32.0")
        silent = self.program("vllm", "#!/bin/sh\necho 0.32.0\nexit 3\n")
        self.assertIsNone(executable.version_of(str(silent)))

    def test_without_a_path_it_is_the_one_of_the_login_shell(self):
        script = self.environment_with("venv", "0.32.0")
        (self.home / ".profile").write_text(f"echo Welcome; PATH={script.parent}:$PATH\n")
        self.assertEqual(executable.find(None), {"found": True, "path": str(script), "version": "0.32.0"})
        self.assertEqual(executable.find("vllm")["path"], str(script))

    def test_what_is_wrong_is_said(self):
        (self.home / ".profile").write_text("PATH=/opt/none:/bin\n")
        plain = self.home / "plain"
        plain.write_text("")
        cases = {
            str(self.home / "none"): f"{self.home}/none does not exist",
            str(plain): f"{plain} is not an executable file",
            str(self.bin): f"{self.bin} is not an executable file",
            "vllm9": "no vllm9 on the login PATH (/opt/none:/bin)",
        }
        for given, reason in cases.items():
            with self.subTest(given=given):
                self.assertEqual(executable.find(given), {"found": False, "reason": reason})

    def test_the_login_environment_survives_greetings_and_odd_values(self):
        (self.home / ".profile").write_text("echo hello\nexport ODD='a\nB=c'\nexport LANG=de_DE.UTF-8\n")
        found = executable.login_environment()
        self.assertEqual(
            (found["ODD"], found["LANG"], found["HOME"]), ("a\nB=c", "de_DE.UTF-8", str(self.home))
        )
        self.assertEqual(sorted({"USER", "LOGNAME", "SHELL", "PATH"} - set(found)), [])

    def test_a_login_shell_that_fails_leaves_our_own_environment(self):
        os.environ["SHELL"] = "/bin/false"
        self.assertEqual(executable.login_environment()["PATH"], os.environ["PATH"])

    def test_a_daemon_of_the_login_script_does_not_hold_it_up(self):
        # It keeps stdout open for longer than the deadline would allow.
        (self.home / ".profile").write_text("sleep 30 & echo $! > ~/pid\nexport SEEN=1\n")
        try:
            self.assertEqual(executable.login_environment()["SEEN"], "1")
        finally:
            os.kill(int((self.home / "pid").read_text()), 9)
