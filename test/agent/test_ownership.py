"""ownership.py: one confirmed owner per URN, nothing forgotten while it lives, nothing left when it is."""

import os

from agent import overlay, ownership, paths, processes, records, registry
from agent.failure import AgentFailure

from .bed import OWNER, SLEEPER, SUPERVISOR, URN, HostCase, identity

ID = OWNER["serverId"]
STEP = {"kind": "claim", "owner": OWNER}
LISTEN = {"address": "127.0.0.1", "port": 1}


class OwnershipTest(HostCase):
    def owner(self, server_id=ID):
        return records.read_json(self.state / server_id / "owner.json")

    def refusal(self, function, *arguments):
        with self.assertRaises(AgentFailure) as caught:
            function(*arguments)
        return caught.exception

    def test_a_new_claim_is_unconfirmed_until_confirmed(self):
        ownership.claim(ID, {"kind": "claim", "owner": {**OWNER, "confirmed": True}})
        self.assertEqual(self.owner(), OWNER)
        ownership.confirm(ID)
        self.assertEqual(self.owner(), {**OWNER, "confirmed": True})
        ownership.confirm(ID, False)
        self.assertEqual(self.owner(), OWNER)

    def test_a_second_claim_keeps_who_made_it_when_and_confirmed_and_is_the_one_that_counts(self):
        self.record(ID, owner={**OWNER, "confirmed": True})
        now = {"createdBy": "bob@desk", "createdAt": "2026-12-02T00:00:00.000Z"}
        later = {**OWNER, **now, "name": "renamed", "claimId": "c2a2"}
        ownership.claim(ID, {"kind": "claim", "owner": later})
        self.assertEqual(self.owner(), {**OWNER, "name": "renamed", "claimId": "c2a2", "confirmed": True})

    def test_a_confirmed_record_of_the_same_urn_is_somebody_elses(self):
        self.record("chat-99999999", owner={**OWNER, "serverId": "chat-99999999", "confirmed": True})
        error = self.refusal(ownership.claim, ID, STEP)
        self.assertEqual(error.code, "OWNED_BY_ANOTHER")
        self.assertEqual(
            error.summary,
            "Cannot claim the server: chat-99999999 of shop/prod has this URN since "
            "2026-12-01T10:00:00.000Z, created by ann@laptop",
        )
        self.assertIn("destroy it from the stack that has it", error.change)
        self.assertIsNone(self.owner())

    def test_what_a_dead_create_left_is_taken_over(self):
        self.record("chat-99999999", owner={**OWNER, "serverId": "chat-99999999"}, overlays=["aa"])
        (self.state / "overlays" / "aa").mkdir(parents=True)
        ownership.claim(ID, STEP)
        self.assertEqual(registry.ids_of_urn(URN), [ID])
        self.assertEqual(os.listdir(self.state / "overlays"), [".lock"])
        self.assertFalse((self.state / "chat-99999999").exists())

    def test_what_an_unfinished_create_still_runs_is_looked_at_again(self):
        self.record("chat-99999999", owner={**OWNER, "serverId": "chat-99999999"})
        self.spawn(SLEEPER, **{processes.MARKER: "chat-99999999"})
        error = self.refusal(ownership.claim, ID, STEP)
        self.assertEqual((error.code, error.retryable), ("CHANGED_MEANWHILE", True))
        self.assertTrue((self.state / "chat-99999999" / "owner.json").exists())

    def test_confirm_needs_a_record(self):
        self.assertEqual(self.refusal(ownership.confirm, ID).code, "CHANGED_MEANWHILE")

    def test_a_living_server_is_not_forgotten(self):
        ownership.LAST_BREATH_SECONDS, kept = 0.0, ownership.LAST_BREATH_SECONDS
        self.addCleanup(setattr, ownership, "LAST_BREATH_SECONDS", kept)
        ownership.claim(ID, STEP)
        child = self.spawn(SLEEPER, **{processes.MARKER: ID})
        error = self.refusal(ownership.forget, ID)
        self.assertEqual(
            (error.code, error.summary),
            ("STOP_INCOMPLETE", f"Cannot forget server {ID}: 1 processes of it live, need none"),
        )
        self.assertIn("(pid %d)" % child.pid, error.evidence)
        child.kill()
        child.wait()
        supervisor = self.spawn(SUPERVISOR)
        run = {"bootId": processes.boot_id(), "supervisor": identity(supervisor.pid), "sessions": []}
        self.record(ID, run=run)
        self.assertEqual(self.refusal(ownership.forget, ID).evidence, "its supervisor still runs")
        self.assertEqual(self.owner(), OWNER)

    def test_forgetting_removes_folder_temp_folder_and_own_overlay_only(self):
        model = self.home / "model"
        model.mkdir()
        (model / "config.json").write_text("{}")
        ownership.claim(ID, STEP)
        step = {"name": "aa", "checkpointPath": str(model), "files": {}, "record": {}}
        overlay.build(ID, step)
        folder = self.record(ID, launch={"listen": LISTEN, "modelPath": str(self.state / "overlays" / "aa")})
        (folder / "logs").mkdir()
        (folder / "logs" / "1.log").write_text("")
        temp = paths.temp_folder(ID)
        temp.mkdir(parents=True, mode=0o700)
        self.addCleanup(lambda: os.path.isdir(temp) and os.rmdir(temp))
        (temp / "vllm_dist_1").write_text("")
        other = self.record("other-22222222", owner={**OWNER, "serverId": "other-22222222", "urn": "urn:x"})
        ownership.forget(ID)
        self.assertEqual(sorted(os.listdir(self.state)), ["other-22222222", "overlays"])
        self.assertEqual(os.listdir(self.state / "overlays"), [".lock"])
        self.assertEqual((temp.exists(), other.exists(), os.listdir(model)), (False, True, ["config.json"]))
        ownership.forget(ID)

    def test_a_link_in_place_of_the_temp_folder_is_not_followed(self):
        ownership.claim(ID, STEP)
        precious = self.home / "precious"
        precious.mkdir()
        (precious / "file").write_text("")
        (self.state / ID / "tmp").symlink_to(precious)
        ownership.forget(ID)
        self.assertEqual(os.listdir(precious), ["file"])
        self.assertFalse((self.state / ID).exists())
