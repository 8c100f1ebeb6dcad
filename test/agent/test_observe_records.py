"""observe: records that are damaged, or of a turn that was cut."""

from agent import observe

from .bed import OWNER
from .observing import ID, READY, ObservedCase


class RecordsTest(ObservedCase):
    def test_damaged_records_do_not_break_the_observation(self):
        folder = self.record(ID, owner={"serverId": 1}, launch=["x"], run="y", ready=7)
        (self.state / "Bad Name").mkdir()
        (self.state / "Bad Name" / "owner.json").write_text("{}")
        self.assertEqual(self.observe()["server"]["status"], "absent")
        (folder / "run.json").write_text("{")
        self.assertEqual(self.observe(serverId=None)["server"], observe.ABSENT)

    def test_a_server_that_somebody_began_to_stop_is_not_ready_though_it_still_answers(self):
        self.server()
        self.supervised()
        self.assertEqual(self.status(ready={**READY, "generation": 3}), "ready")
        (self.state / ID / "stop-intent").write_text("{}")
        self.assertEqual(self.observe()["server"]["status"], "stopped")

    def test_a_record_that_is_json_and_makes_no_sense_counts_as_missing(self):
        self.server()
        self.supervised()
        whole = {"launch": self.launch(), "run": self.run, "ready": {**READY, "generation": 3}}
        self.assertEqual(self.status(ready=whole["ready"]), "ready")
        for name, field, wrong, status in (
            ("run", "generation", "x", "stopped"),
            ("run", "leader", {"pid": "1"}, "stopped"),
            ("run", "sessions", [7], "stopped"),
            ("run", "exits", "none", "stopped"),
            ("run", "shm", {"a": 1}, "stopped"),
            ("launch", "listen", {"port": "80"}, "starting"),
            ("launch", "gpuUuids", 3, "starting"),
            ("launch", "restart", {"max": None}, "starting"),
            ("ready", "cacheConfig", ["x"], "starting"),
        ):
            self.record(ID, owner=OWNER, **{**whole, name: {**whole[name], field: wrong}})
            self.assertEqual(self.observe()["server"]["status"], status, (name, field))
        cut = {name: value for name, value in self.launch().items() if name != "executable"}
        self.record(ID, **{**whole, "launch": cut, "ready": {"generation": 3}})
        seen = self.observe()["server"]
        self.assertEqual((seen["launch"], seen["ready"]), (None, None))
