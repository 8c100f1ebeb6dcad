"""A vllm that first reads its model folder as loaders do, into the JSON file $READ_INTO, and then is the `vllm` beside it.

{"files": {path: sha256}, "says": what modeling_tiny.py has from the module beside it}
"""

import hashlib
import importlib
import json
import os
import sys
import types

sys.dont_write_bytecode = True


def files(folder):
    found = {}
    for place, _folders, names in os.walk(folder, followlinks=True):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest()
    return found


def says(folder):
    """The folder as a package: the import in it is a relative one."""
    package = types.ModuleType("checkpoint")
    package.__path__ = [folder]
    sys.modules["checkpoint"] = package
    return importlib.import_module("checkpoint.modeling_tiny").SAYS


into = os.environ.get("READ_INTO")
if into and sys.argv[1:2] == ["serve"] and os.path.isdir(sys.argv[2]):
    with open(into, "w", encoding="utf-8") as file:
        json.dump({"files": files(sys.argv[2]), "says": says(sys.argv[2])}, file)
real = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vllm")
os.execv(real, [real, *sys.argv[1:]])
