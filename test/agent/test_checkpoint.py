"""checkpoint.py: what stands in a model folder, links of the Hugging Face cache included."""

from agent import checkpoint

from .bed import HostCase


class CheckpointTest(HostCase):
    def setUp(self):
        super().setUp()
        self.model = self.home / "model"
        self.model.mkdir()

    def refusal(self, path):
        found = checkpoint.look(path)
        self.assertEqual(found["found"], False)
        return found["reason"]

    def test_texts_come_as_they_stand_and_weights_are_counted(self):
        text = '{"a": 1,\r\n "ü": 2}\r\n'
        (self.model / "config.json").write_bytes(text.encode())
        (self.model / "blob").write_bytes(b"x" * 10)
        (self.model / "model-1.safetensors").symlink_to("blob")
        (self.model / "model-2.safetensors").write_bytes(b"y" * 5)
        (self.model / "model-3.safetensors").symlink_to("nowhere")
        self.assertEqual(
            checkpoint.look("~/model"),
            {
                "found": True,
                "path": str(self.model),
                "files": {"config.json": text, "hf_quant_config.json": None},
                "weightFiles": 2,
                "weightBytes": 15,
                "loadedBytes": 15,
            },
        )

    def test_only_the_files_that_are_loaded_are_counted_as_loaded(self):
        def loaded(*names: str) -> object:
            for path in self.model.iterdir():
                path.unlink()
            for name in names:
                (self.model / name).write_bytes(b"x" * 7)
            return checkpoint.look("~/model")["loadedBytes"]

        self.assertEqual(loaded("model-1-of-2.safetensors", "model-2-of-2.safetensors"), 14)
        self.assertEqual(loaded("model-1-of-1.safetensors", "consolidated.safetensors", "old.bin"), 7)
        self.assertEqual(loaded("consolidated-1.safetensors", "consolidated-2.safetensors"), 14)
        self.assertIsNone(loaded("pytorch_model.bin"))

    def test_links_stay_in_the_path(self):
        (self.home / "link").symlink_to(self.model)
        self.assertEqual(checkpoint.look(str(self.home / "link") + "/")["path"], str(self.home / "link"))

    def test_what_is_wrong_is_said(self):
        (self.home / "file").write_text("")
        (self.home / "gone").symlink_to("nowhere")
        self.assertEqual(self.refusal("~/none"), "it does not exist")
        self.assertEqual(self.refusal("~/file"), "it is a file, need a folder")
        self.assertEqual(self.refusal("~/gone"), "it is a link to nowhere")
        (self.model / "config.json").write_bytes(b"\xff")
        self.assertEqual(self.refusal("~/model"), "config.json is not UTF-8")
        (self.model / "config.json").unlink()
        (self.model / "config.json").symlink_to("nowhere")
        self.assertEqual(
            self.refusal("~/model"), "config.json is a link to nowhere (an unfinished download?)"
        )
