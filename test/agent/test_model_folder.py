"""model_folder.py: what a served folder lost since the start, and what it never had."""

from __future__ import annotations

from agent import model_folder, records, registry, server_seen
from test.agent.acting import ActingCase


class ModelFolderTest(ActingCase):
    def setUp(self) -> None:
        super().setUp()
        self.model = self.folder / "model"
        self.model.mkdir()
        (self.model / "config.json").write_text("{}")

    def is_intact(self) -> object:
        return server_seen.describe(registry.load(self.server_id), {})["modelPathIntact"]

    def test_only_a_link_that_led_somewhere_at_the_start_is_a_loss(self) -> None:
        for name in ("README.md", "a name\nof two lines"):
            (self.model / name).symlink_to("never downloaded")
        (self.model / "weights").symlink_to("config.json")
        self.apply({"kind": "start", "launch": self.launch({}, modelPath=str(self.model))})
        launch = records.read_json(self.state() / "launch.json")
        self.assertEqual(["README.md", "a name\nof two lines"], launch["brokenLinks"])
        self.assertEqual(True, self.is_intact())
        (self.model / "README.md").unlink()
        self.assertEqual(True, self.is_intact())
        (self.model / "weights").unlink()
        (self.model / "weights").symlink_to("nowhere")
        self.assertEqual(False, self.is_intact())

    def test_a_folder_that_is_gone_or_empty_is_not_intact(self) -> None:
        (self.model / "config.json").unlink()
        self.assertFalse(model_folder.is_intact(str(self.model), ()))
        self.model.rmdir()
        self.assertFalse(model_folder.is_intact(str(self.model), ()))
        self.assertEqual([], model_folder.broken_links_now(str(self.model)))
