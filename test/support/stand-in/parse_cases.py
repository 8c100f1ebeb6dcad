"""The stand-in's side of test/vllm/parser_driver.py: the same questions, the same form of answers.

usage: python3 parse_cases.py CASES.json ANSWERS.json
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from stand_in_vllm import arguments, flags


def plain(value: Any) -> Any:
    if isinstance(value, flags.Opaque):
        return value.text
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError):
        return f"{type(value).__name__}: {value!r}"


def parse(words: list[str]) -> tuple[dict[str, Any], str | None]:
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            namespace = arguments.parse(["serve", *words], "0.32.0", lambda text: None)
    except SystemExit:
        return {}, said.getvalue().strip().splitlines()[-1]
    except Exception as error:
        return {}, f"{type(error).__name__}: {error}"
    return {name: plain(value) for name, value in vars(namespace).items()}, None


def main() -> None:
    cases = json.loads(Path(sys.argv[1]).read_text())
    nothing, _ = parse([])
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            file = Path(folder) / "serve.yaml"
            if case["yaml"] is not None:
                file.write_text(case["yaml"], encoding="utf-8")
            values, error = parse([word.replace("{file}", str(file)) for word in case["words"]])
            changed = {
                name: value for name, value in values.items() if name not in nothing or nothing[name] != value
            }
            changed.pop("config", None)
            answers.append({"error": error, "values": changed})
    Path(sys.argv[2]).write_text(json.dumps({"defaults": nothing, "answers": answers}))


if __name__ == "__main__":
    main()
