"""python3 test/support/hub/serve.py CONFIG.json: prints {"url", "control", "cdn"} when ready; ends with its standard input."""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hub import Hub  # noqa: E402
from hub.control import open_control  # noqa: E402


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        config = json.load(file)
    with Hub(config) as hub:
        control, close = open_control(hub)
        print(json.dumps({"url": hub.url, "control": control, "cdn": hub.cdn_url}), flush=True)
        # Whoever started it need only go away: nothing is left behind.
        sys.stdin.buffer.read()
        close()


main()
