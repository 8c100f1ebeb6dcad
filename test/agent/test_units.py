"""Text of a server's units, of their environment file, and what their script does without systemd around it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from agent import (
    environment_file,
    log_policy,
    processes,
    restart_policy,
    server_process,
    unit_script,
    unit_text,
)
from agent.start_plan import Plan

from .bed import HostCase

ID = "chat-0a1b2c3d"


def plan(folder: Path, **changes: object) -> Plan:
    fields = {
        "server_id": ID,
        "title": "chat (project shop, stack prod)",
        "command": server_process.Command("/opt/vllm/bin/vllm", ("serve", "/models/tiny"), {}, 0o022),
        "port": 8000,
        "drain_seconds": 20,
        "restart": restart_policy.RestartPolicy(5, 600, 2.5),
        "logs": log_policy.LogPolicy(2, 4096),
        "temp": folder / "tmp",
        "starts_at_boot": True,
    }
    return Plan(**{**fields, **changes})  # type: ignore[arg-type]


class UnitTextTest(HostCase):
    def test_a_system_unit_runs_vllm_itself_as_the_user_and_says_whose_it_is(self) -> None:
        place = unit_text.Place(Path("/home/ann/state"), is_user_unit=False, user="ann")
        self.assertEqual(
            """\
# Written by pulumi-vllm. `pulumi refresh` sees what is changed here, `pulumi up` writes it anew.
[Unit]
Description=vLLM server chat (project shop, stack prod), managed by pulumi-vllm
Documentation=https://docs.vllm.ai/en/latest/cli/serve.html
Wants=pulumi-vllm-chat-0a1b2c3d-watch.timer
Wants=network-online.target
After=network-online.target
RequiresMountsFor="/home/ann/state"
StartLimitIntervalSec=600
StartLimitBurst=6

[Service]
Type=exec
User=ann
WorkingDirectory=/
EnvironmentFile=/home/ann/state/environment
UMask=0022
TasksMax=infinity
LimitMEMLOCK=infinity
ExecCondition=/bin/sh "/home/ann/state/units/unit.sh" allowed
ExecStartPre=/bin/sh "/home/ann/state/units/unit.sh" prepare
ExecStart="/opt/vllm/bin/vllm" "serve" "/models/tiny"
ExecStartPost=-/bin/sh "/home/ann/state/units/unit.sh" starting
ExecStopPost=/bin/sh "/home/ann/state/units/unit.sh" ended
StandardOutput=append:/home/ann/state/logs/current.log
StandardError=inherit
Restart=always
RestartSec=2.5
KillMode=mixed
TimeoutStopSec=35

[Install]
WantedBy=multi-user.target
""",
            unit_text.render(plan(self.home), place)["pulumi-vllm-chat-0a1b2c3d.service"],
        )

    def test_a_user_unit_starts_with_the_users_manager(self) -> None:
        place = unit_text.Place(Path("/home/ann/state"), is_user_unit=True, user=None)
        text = unit_text.render(plan(self.home), place)["pulumi-vllm-chat-0a1b2c3d.service"]
        for absent in ("User=", "network-online", "LimitMEMLOCK"):
            self.assertNotIn(absent, text)
        self.assertIn("\nWantedBy=default.target\n", text)

    def test_its_timer_waits_for_the_service_and_is_waited_for_by_nothing(self) -> None:
        place = unit_text.Place(Path("/home/ann/state"), is_user_unit=True, user=None)
        self.assertEqual(
            """\
[Unit]
Description=Looks after the vLLM server chat (project shop, stack prod)
DefaultDependencies=no
PartOf=pulumi-vllm-chat-0a1b2c3d.service
After=pulumi-vllm-chat-0a1b2c3d.service

[Timer]
OnActiveSec=15
OnUnitActiveSec=30
AccuracySec=1
""",
            unit_text.render(plan(self.home), place)["pulumi-vllm-chat-0a1b2c3d-watch.timer"],
        )

    def test_without_restarts_systemd_starts_it_once(self) -> None:
        once = plan(self.home, restart=restart_policy.RestartPolicy(0, 600, 0))
        text = unit_text.render(once, unit_text.Place(Path("/s"), False, "ann"))[
            "pulumi-vllm-chat-0a1b2c3d.service"
        ]
        self.assertIn("\nRestart=no\n", text)

    def test_words_with_a_meaning_for_systemd_stay_as_they_are(self) -> None:
        odd = server_process.Command("/opt/my $v%/vllm", ("serve", 'a "b" \\ $HOME ${X} 100%\nc'), {}, 0o022)
        place = unit_text.Place(Path("/home/an n/50%"), is_user_unit=False, user="ann")
        text = unit_text.render(plan(self.home, command=odd, title="50%\nUser=root"), place)[
            "pulumi-vllm-chat-0a1b2c3d.service"
        ]
        lines = text.splitlines()
        self.assertIn('ExecStart="/opt/my $v%%/vllm" "serve" "a \\"b\\" \\\\ $$HOME $${X} 100%%\\nc"', lines)
        self.assertIn('ExecStartPre=/bin/sh "/home/an n/50%%/units/unit.sh" prepare', lines)
        self.assertIn("EnvironmentFile=/home/an n/50%%/environment", lines)
        self.assertIn('RequiresMountsFor="/home/an n/50%%"', lines)
        self.assertIn("Description=vLLM server 50%% User=root, managed by pulumi-vllm", lines)

    def test_values_of_the_environment_keep_every_character(self) -> None:
        self.assertEqual(
            'A="x \\"y\\" \\\\ \\$HOME \\`z\\`\n# ; é"\nB=""\n',
            environment_file.render({"A": 'x "y" \\ $HOME `z`\n# ; é', "B": ""}),
        )


class UnitScriptTest(HostCase):
    """unit.sh as systemd calls it."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = self.home / "it's a folder"
        (self.folder / "units").mkdir(parents=True)
        self.script = self.folder / "units" / "unit.sh"
        self.script.write_text(
            unit_script.render(plan(self.folder), self.folder, f"pulumi-vllm-{ID}.service")
        )
        self.write("started", f"4 {processes.boot_id()}\n")

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text)

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()

    def call(self, word: str, **environment: str) -> int:
        done = subprocess.run(
            ["/bin/sh", str(self.script), word],
            env={"PATH": "/usr/bin:/bin", **environment},
            capture_output=True,
            text=True,
            timeout=30,
        )
        self.assertEqual(("", ""), (done.stdout, done.stderr))
        return done.returncode

    def end(self, code: str = "exited", status: str = "1") -> None:
        self.assertEqual(
            0, self.call("ended", EXIT_CODE=code, EXIT_STATUS=status, SERVICE_RESULT="exit-code")
        )

    def test_a_start_is_counted_named_with_its_boot_and_gets_a_log_of_its_own(self) -> None:
        self.assertEqual(0, self.call("prepare"))
        generation, boot, at = self.read("started").split()
        self.assertEqual(("5", processes.boot_id()), (generation, boot))
        self.assertRegex(at, r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
        self.assertEqual("5.log", os.readlink(self.folder / "logs" / "current.log"))
        self.assertEqual(0o600, (self.folder / "logs" / "5.log").stat().st_mode & 0o777)

    def test_a_damaged_count_goes_on_from_the_newest_log(self) -> None:
        self.write("started", "")
        self.write("logs/11.log", "")
        self.write("logs/9.log", "")
        self.call("prepare")
        self.assertEqual("12", self.read("started").split()[0])

    def test_the_newest_logs_stay_and_the_first_of_a_loop_of_failures(self) -> None:
        for number in (1, 2, 3, 4):
            self.write(f"logs/{number}.log", "")
        self.write("unserved", f"{processes.boot_id()} 3 2\n")
        self.call("prepare")
        self.assertEqual(["2.log", "4.log", "5.log", "current.log"], sorted(os.listdir(self.folder / "logs")))

    def test_temporary_files_of_the_start_before_go(self) -> None:
        self.write("tmp/a-socket", "")
        self.call("prepare")
        self.assertEqual([], os.listdir(self.folder / "tmp"))

    def test_a_start_is_refused_while_it_is_being_stopped_or_after_a_watched_failure(self) -> None:
        self.assertEqual(0, self.call("allowed"))
        for name in ("stop-intent", "no-restart"):
            self.write(name, "")
            self.assertEqual(1, self.call("allowed"))
            (self.folder / name).unlink()

    def test_a_start_is_refused_after_too_many_in_a_row_that_never_served_until_the_next_boot(self) -> None:
        for restarts in range(6):
            self.assertEqual(0, self.call("allowed"), restarts)
            self.call("prepare")
            self.end()
        self.assertEqual(1, self.call("allowed"))
        self.write("unserved", "another-boot 6 5\n")
        self.assertEqual(0, self.call("allowed"))

    def test_a_start_that_served_ends_the_row(self) -> None:
        for proof in ("served", "ready.json"):
            self.write("unserved", f"{processes.boot_id()} 3 2\n")
            self.call("prepare")
            generation = self.read("started").split()[0]
            self.write(
                proof,
                f"{generation}\n"
                if proof == "served"
                else f'{{\n "generation": {generation},\n "x": 1\n}}\n',
            )
            self.end()
            self.assertFalse((self.folder / "unserved").exists())
            (self.folder / proof).unlink()

    def test_shared_memory_that_was_noted_goes_when_nothing_uses_it_and_stays_while_something_does(
        self,
    ) -> None:
        names = [f"psm_{os.getpid():x}{letter}" for letter in "abc"]
        for name in names:
            path = Path("/dev/shm", name)
            path.write_text("x")
            self.addCleanup(path.unlink, missing_ok=True)
        opener = f"import sys; kept = open('/dev/shm/{names[1]}'); print('up'); sys.stdin.read()"
        self.spawn(opener)
        self.write("shm", f"{processes.boot_id()}\n{names[0]}\n{names[1]}\n")
        self.end()
        self.assertEqual(names[1:], [name for name in names if os.path.exists(f"/dev/shm/{name}")])
        self.assertEqual(f"{processes.boot_id()}\n{names[1]}\n", self.read("shm"))

    def test_names_of_another_boot_are_somebody_elses(self) -> None:
        path = Path("/dev/shm", f"psm_{os.getpid():x}d")
        path.write_text("x")
        self.addCleanup(path.unlink, missing_ok=True)
        self.write("shm", f"another-boot\n{path.name}\n")
        self.call("prepare")
        self.assertTrue(path.exists())
        self.assertEqual(f"{processes.boot_id()}\n", self.read("shm"))

    def test_an_exit_is_on_record_once_and_the_last_twenty_stay(self) -> None:
        self.write(
            "exits",
            "".join(f"{number} exited 0 success 2026-12-01T10:00:00Z served\n" for number in range(-20, 3)),
        )
        self.end("killed", "KILL")
        self.end("killed", "KILL")
        lines = self.read("exits").splitlines()
        self.assertEqual(20, len(lines))
        self.assertRegex(lines[-1], r"^4 killed KILL exit-code \S+Z unserved$")
        self.assertEqual("2", lines[-2].split()[0])
