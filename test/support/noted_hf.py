"""The hub's real client, with each call of it written down first: a line {"argv", "environment"} in `calls` beside this file.

The path of the real one stands in `real` there.
"""

import json
import os
import sys

here = os.path.dirname(os.path.realpath(__file__))
note = json.dumps({"argv": sys.argv[1:], "environment": dict(os.environ)}) + "\n"
descriptor = os.open(os.path.join(here, "calls"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(descriptor, note.encode())
os.close(descriptor)
with open(os.path.join(here, "real"), encoding="utf-8") as file:
    real = file.read()
os.execv(real, [real, *sys.argv[1:]])
