"""systemd as the manager of one server: a unit that runs vLLM itself, of the system or of this user."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional

from agent import (
    accounts,
    command,
    environment_file,
    logs,
    paths,
    processes,
    records,
    run_record,
    systemctl,
    unit_files,
    unit_names,
    unit_run,
    unit_script,
    unit_text,
)
from agent.failure import AgentFailure
from agent.start_plan import Plan

# Exit status of a process that systemd could not turn into the program. Source: systemd.exec(5), EXIT_EXEC.
_CANNOT_EXECUTE = "203"


class SystemdUnits:
    def __init__(self, name: str) -> None:
        self.name = name
        self.scope = unit_run.scope_of(name)

    def start(self, plan: Plan, previous: Optional[dict[str, Any]]) -> int:
        """Pid of vLLM's API server once systemd has executed it."""
        folder = paths.server_folder(plan.server_id)
        environment = environment_file.render(plan.command.environment)
        records.write_text(unit_text.environment_path(folder), environment)
        _continue_from(plan.server_id, previous)
        self._install(plan)
        service = unit_names.service(plan.server_id)
        # Its starts so far do not count against this one.
        systemctl.change(self.scope, "reset-failed", service)
        told = systemctl.change(self.scope, "start", service)
        shown = systemctl.show(self.scope, [service], ["ExecMainPID", "ExecMainStatus", "Result"])[0]
        run = unit_run.read(plan.server_id, self.name)
        # It may have ended again already: how, the wait step tells.
        if told.code == 0 and run_record.generation_of(run) > run_record.generation_of(previous):
            return int(shown["ExecMainPID"])
        refusal = _refusal(plan, told, shown)
        # It would be tried again and again.
        self.release(plan.server_id)
        raise refusal

    def settle(self, plan: Plan) -> None:
        """The units say what the plan says, and so does systemd; what runs is left alone."""
        self._install(plan)

    def release(self, server_id: str) -> None:
        """Ends what is left, and takes the units away: nothing will start it again."""
        units = unit_names.all_of(server_id)
        service = units[0]
        if not self._has_traces(server_id):
            return
        if self._answers():
            told = systemctl.change(self.scope, "stop", *units)
            # 5: not loaded.
            if told.code not in (0, 5):
                raise systemctl.failed("stop", service, told)
            systemctl.change(self.scope, "disable", service)
        self._remove(server_id)
        if self._answers():
            systemctl.change(self.scope, "daemon-reload")
            systemctl.change(self.scope, "reset-failed", *units)

    def _has_traces(self, server_id: str) -> bool:
        service = unit_names.service(server_id)
        if unit_files.is_there(self.scope, server_id):
            return True
        if not self._answers():
            return False
        shown = systemctl.show(self.scope, [service], ["LoadState", "ActiveState"])[0]
        return shown.get("LoadState") != "not-found" or shown.get("ActiveState") not in ("inactive", "failed")

    def _answers(self) -> bool:
        return unit_run.is_running(self.scope)

    def _install(self, plan: Plan) -> None:
        """Writes what differs, has systemd read it, and sets whether it starts at boot."""
        place = unit_text.Place(
            folder=paths.server_folder(plan.server_id),
            is_user_unit=self.scope.is_user,
            user=None if self.scope.is_user else accounts.name_of(os.getuid()),
        )
        texts = unit_text.render(plan, place)
        copies = unit_files.copies(plan.server_id)
        script = unit_script.render(plan, place.folder, unit_names.service(plan.server_id))
        records.write_text(unit_text.script_path(place.folder), script)
        for name, text in texts.items():
            records.write_text(copies / name, text)
        changed = [
            name
            for name, text in texts.items()
            if unit_files.text(unit_files.folder(self.scope) / name) != text
        ]
        if changed:
            self._put(copies, changed, texts)
        self._drop_overrides(plan.server_id)
        self._demand(("daemon-reload",), plan)
        self._demand(
            ("enable" if plan.starts_at_boot else "disable", unit_names.service(plan.server_id)), plan
        )

    def _put(self, copies: Path, changed: list[str], texts: Mapping[str, str]) -> None:
        folder = unit_files.folder(self.scope)
        if self.scope.is_user:
            for name in changed:
                records.write_text(folder / name, texts[name], mode=0o644)
            return
        sources = [str(copies / name) for name in changed]
        told = systemctl.as_owner(self.scope, ["install", "-m", "0644", "-t", str(folder), "--", *sources])
        if told.code != 0:
            raise systemctl.failed("install", ", ".join(changed), told)

    def _drop_overrides(self, server_id: str) -> None:
        overrides = unit_files.overrides(self.scope, server_id)
        if os.path.lexists(overrides):
            systemctl.as_owner(self.scope, ["rm", "-rf", "--", str(overrides)])

    def _remove(self, server_id: str) -> None:
        self._drop_overrides(server_id)
        service = unit_names.service(server_id)
        found = [unit_files.folder(self.scope) / name for name in unit_names.all_of(server_id)]
        found += [
            unit_files.folder(self.scope) / f"{target}.wants" / service
            for target in ("multi-user.target", "default.target")
        ]
        there = [str(path) for path in found if os.path.lexists(path)]
        if not there:
            return
        told = systemctl.as_owner(self.scope, ["rm", "-f", "--", *there])
        if told.code != 0:
            raise systemctl.failed("remove", service, told)

    def _demand(self, words: tuple[str, ...], plan: Plan) -> None:
        told = systemctl.change(self.scope, *words)
        if told.code != 0:
            raise systemctl.failed(words[0], unit_names.service(plan.server_id), told)


def _refusal(plan: Plan, told: command.Outcome, shown: Mapping[str, str]) -> AgentFailure:
    if shown.get("ExecMainStatus") == _CANNOT_EXECUTE:
        return AgentFailure(
            "VLLM_NOT_FOUND",
            f"Cannot run {plan.command.executable}: systemd was not able to execute it, need a vllm that can be",
            evidence=systemctl.last_line(told) or None,
            change="vllm.executable, or install vLLM again: its environment may have moved",
        )
    failure = systemctl.failed("start", unit_names.service(plan.server_id), told)
    told_by = (f"result {shown.get('Result')}", failure.evidence)
    failure.evidence = "; ".join(part for part in told_by if part)
    return failure


def _continue_from(server_id: str, previous: Optional[dict[str, Any]]) -> None:
    """What the unit counts on from: the starts and exits so far, whoever ran them."""
    folder = paths.server_folder(server_id)
    generation = run_record.generation_of(previous)
    records.write_text(folder / "started", f"{generation} {processes.boot_id()}\n")
    exits = [_exit_line(entry) for entry in (previous or {}).get("exits", [])]
    records.write_text(folder / "exits", "".join(exits))
    for name in ("no-restart", "unserved", "served", "run.json"):
        (folder / name).unlink(missing_ok=True)
    records.make_folder(logs.folder(server_id))
    with contextlib.suppress(FileNotFoundError):
        (logs.folder(server_id) / "current.log").unlink()
    # Made here: systemd would make it root's.
    logs.path(server_id, generation + 1).touch(0o600)
    os.symlink(f"{generation + 1}.log", logs.folder(server_id) / "current.log")


def _exit_line(entry: Mapping[str, Any]) -> str:
    how = (
        ("exited", entry["code"])
        if entry["signal"] is None
        else ("killed", unit_run.signal_name(entry["signal"]))
    )
    return f"{entry['generation']} {how[0]} {how[1]} - {entry['at']}\n"
